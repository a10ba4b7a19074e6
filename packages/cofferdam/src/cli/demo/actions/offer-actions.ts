import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { appLockAnnotation } from '../../../shared/app-lock-annotation.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import { nextImage } from '../suggest-osd-update.ts'
import { annotateStep, type DemoAction } from './demo-action.ts'

const power = 'cofferdam.io/power'
const disk = 'cofferdam.io/disk'

/** Buttons of a node: its cordon, its power, and the disk of one of its OSDs. */
export function offerForNode(
  node: Node,
  {
    osds,
    hasRequest,
    calledAs,
  }: {
    /** The Deployments of the OSDs on it. */
    readonly osds: readonly Deployment[]
    /** A drain of it is in progress. */
    readonly hasRequest: boolean
    readonly calledAs: string
  },
): DemoAction[] {
  const { name } = node.metadata
  const key = { name }
  const isOff = node.metadata.annotations?.[power] === 'off'
  const release = ['uncordon', name, '--no-wait']
  const drain = ['drain', name, '--no-wait']
  const [broken] = osds.filter(isBroken)
  const [whole] = osds.filter((osd) => !isBroken(osd))
  const actions: Omit<DemoAction, 'about'>[] = [
    ...(isClosedToPods(node) || hasRequest
      ? [{ id: 'uncordon', label: 'Uncordon', commands: [line(calledAs, release)], steps: [run(release)] }]
      : [
          {
            id: 'cordon',
            label: 'Cordon',
            commands: [`kubectl cordon ${name}`],
            steps: [{ do: 'patch', type: nodes, key, body: { spec: { unschedulable: true } } } as const],
          },
        ]),
    ...(hasRequest ? [] : [{ id: 'drain', label: 'Drain', commands: [line(calledAs, drain)], steps: [run(drain)] }]),
    isOff
      ? {
          id: 'restore-power',
          label: 'Restore power',
          commands: [`kubectl annotate node ${name} ${power}-`],
          steps: [annotateStep(nodes, key, { [power]: null })],
        }
      : {
          id: 'cut-power',
          label: 'Cut power',
          commands: [`kubectl annotate node ${name} ${power}=off`],
          steps: [annotateStep(nodes, key, { [power]: 'off' })],
        },
    ...(broken === undefined ? [] : [diskAction(broken)]),
    ...(whole === undefined ? [] : [diskAction(whole)]),
  ]
  return actions.map((action) => ({ ...action, about: node }))
}

/** Of an OSD: the disk under it. */
export function offerForOsd(osd: Deployment): DemoAction[] {
  return [{ ...diskAction(osd), about: osd }]
}

function diskAction(osd: Deployment): Omit<DemoAction, 'about'> {
  const { namespace = '', name, labels = {} } = osd.metadata
  const id = labels['ceph-osd-id'] ?? ''
  const [action, label, value] = isBroken(osd)
    ? ['mend-disk', `Mend the disk of osd.${id}`, undefined]
    : ['kill-disk', `Kill the disk of osd.${id}`, 'failed']
  return {
    id: action,
    label,
    commands: [`kubectl -n ${namespace} annotate deployment ${name} ${disk}${value === undefined ? '-' : `=${value}`}`],
    steps: [annotateStep(deployments, { namespace, name }, { [disk]: value ?? null })],
  }
}

function isBroken({ metadata }: Deployment): boolean {
  return metadata.annotations?.[disk] === 'failed'
}

/** Of a Ceph cluster: another image for all of its OSDs. */
export function offerForCeph(cluster: CephCluster): DemoAction[] {
  const { namespace = '', name } = cluster.metadata
  const image = nextImage(cluster.spec?.cephVersion?.image)
  if (image === undefined) return []
  const pace = { 'cofferdam.io/update-max-in-parallel': '4', 'cofferdam.io/update-mons-first': 'false' }
  const spec = { spec: { cephVersion: { image } } }
  const key = { namespace, name }
  const words = Object.entries(pace).map(([annotation, value]) => `${annotation}=${value}`)
  return [
    {
      id: 'start-update',
      label: 'Update all OSDs',
      commands: [
        `kubectl -n ${namespace} annotate --overwrite cephcluster ${name} ${words.join(' ')}`,
        `kubectl -n ${namespace} patch cephcluster ${name} --type merge -p '${JSON.stringify(spec)}'`,
      ],
      steps: [annotateStep(cephClusters, key, pace), { do: 'patch', type: cephClusters, key, body: spec }],
      about: cluster,
    },
  ]
}

/** Of a budget: the lock of its owner. */
export function offerForBudget(budget: PodDisruptionBudget, calledAs: string): DemoAction[] {
  const { namespace = '', name, annotations = {} } = budget.metadata
  const object = `pdb/${namespace}/${name}`
  const isLocked = annotations[appLockAnnotation] !== undefined
  const argv = isLocked ? ['unlock', object] : ['lock', object, '--for', '10m', '--reason', 'rebalancing']
  return [
    {
      id: isLocked ? 'unlock' : 'lock',
      label: isLocked ? 'Unlock' : 'Lock for 10 minutes',
      commands: [line(calledAs, argv)],
      steps: [run(argv)],
      about: budget,
    },
  ]
}

function run(argv: readonly string[]) {
  return { do: 'run', argv } as const
}

function line(calledAs: string, argv: readonly string[]): string {
  return [calledAs, ...argv].join(' ')
}
