import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { known } from '../../../../shared/observed.ts'
import type { DaemonBudget } from '../daemon-budgets.ts'
import type { DaemonView, ServiceDaemonView } from '../snapshot.ts'
import { decideStaticBudgets } from '../static-budgets.ts'
import type { DaemonBudgets, Kind, ModelNode, ModelSetup, ModelState } from './drain-model-state.ts'
import { nowMs } from './fixture.ts'

const serverBudget = 'rook-ceph-nfs-files'

export function decideDaemons(setup: ModelSetup, state: ModelState): DaemonBudgets {
  const mons = idsOf(setup, 'mon')
  const servers = idsOf(setup, 'server')
  const out = mons.filter((id) => state.downDaemons.includes(`mon.${id}`))
  const { mon, server } = state.daemonBudgets
  const { daemonBudgets } = decideStaticBudgets({
    cluster: { namespace: 'rook-ceph', mode: 'manage' },
    monCount: mons.length,
    mgrCount: 1,
    quorum: known({ mons: mons.length, inQuorum: mons.length - out.length, out }),
    isSilenceBrief: true,
    filesystems: [],
    objectStores: [],
    rbdMirrors: [],
    nvmeof: [],
    filesystemMirrors: [],
    nfs: servers.length === 0 ? [] : [{ name: 'files', uid: 'u', active: servers.length }],
    existing: [
      ...(mon === undefined ? [] : [asObject('rook-ceph-mon-pdb', mon)]),
      ...(server === undefined ? [] : [asObject(serverBudget, server)]),
    ],
    ...(setup.byNumberAlone === true
      ? {}
      : {
          beside: {
            daemons: daemonsOf(setup, state),
            turn: state.turn,
            leavingNodes: new Set(setup.nodes.map(({ name }) => name).filter((name) => state.drains[name] === 'begun')),
            nowMs,
            memory: {
              ...(state.memory.mon === undefined ? {} : { mon: state.memory.mon }),
              ...(state.memory.server === undefined ? {} : { [serverBudget]: state.memory.server }),
            },
            services: setup.serversByNumber === true ? [] : serversOf(setup, state),
          },
        }),
  })
  const byNumber = { maxUnavailable: 1, isFollowing: false, exempt: [], loose: [] }
  return {
    ...(daemonBudgets['mon'] === undefined ? {} : { mon: daemonBudgets['mon'] }),
    ...(servers.length === 0 ? {} : { server: daemonBudgets[serverBudget] ?? byNumber }),
  }
}

function asObject(
  name: string,
  { maxUnavailable, isFollowing, exempt }: Pick<DaemonBudget, 'maxUnavailable' | 'isFollowing' | 'exempt'>,
): PodDisruptionBudget {
  const left = exempt.length === 0 ? [] : [{ key: 'ceph_daemon_id', operator: 'NotIn' as const, values: exempt }]
  const limit = name === serverBudget && !isFollowing ? { minAvailable: 1 } : { maxUnavailable }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'rook-ceph' },
    spec: { ...limit, selector: { matchLabels: {}, matchExpressions: left } },
  }
}

export function daemonsOf({ nodes }: ModelSetup, { downDaemons }: ModelState): DaemonView[] {
  return nodes.flatMap(({ name, mon }): DaemonView[] =>
    mon === undefined
      ? []
      : [{ type: 'mon', id: mon, nodeName: name, isPinned: true, isReady: !downDaemons.includes(`mon.${mon}`) }],
  )
}

export function serversOf({ nodes }: ModelSetup, { downDaemons }: ModelState): ServiceDaemonView[] {
  return nodes.flatMap(({ name, server: id }): ServiceDaemonView[] => {
    if (id === undefined) return []
    const isReady = !downDaemons.includes(`server.${id}`)
    return [{ type: 'nfs', budget: serverBudget, id, nodeName: name, isPinned: true, isReady }]
  })
}

export function daemonNamesOf(nodes: readonly ModelNode[]): string[] {
  return nodes.flatMap(({ mon, server }) => [
    ...(mon === undefined ? [] : [`mon.${mon}`]),
    ...(server === undefined ? [] : [`server.${server}`]),
  ])
}

export function idsOf({ nodes }: ModelSetup, kind: Kind): string[] {
  return nodes.flatMap((node) => node[kind] ?? [])
}

/** Those that have a budget: fewer than three mons have none. */
export function kindsOf(setup: ModelSetup): Kind[] {
  return [
    ...(idsOf(setup, 'mon').length < 3 ? [] : (['mon'] as const)),
    ...(idsOf(setup, 'server').length === 0 ? [] : (['server'] as const)),
  ]
}

export function partsOf(daemon: string): [Kind, string] {
  const [kind, id] = daemon.split('.')
  return [kind as Kind, id as string]
}
