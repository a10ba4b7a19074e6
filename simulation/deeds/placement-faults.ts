import { deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { between, oneOf } from '../story.ts'
import { drawMove, meddle, mendLater, pooled, run, setPool } from './crush-faults.ts'
import { type DeedPorts, type FaultKind, withCeph } from './deed-kind.ts'

const labelOfType: Readonly<Record<string, string>> = {
  zone: 'topology.kubernetes.io/zone',
  rack: 'topology.rook.io/rack',
}

/** What Ceph does with placement groups by itself, or an administrator with disks, while others drain. */
export const placementFaults: Readonly<Record<string, FaultKind>> = {
  'placement groups split, and merge again': {
    row: 'F19',
    fits: withCeph,
    async apply(ports) {
      const { stage, random, tell } = ports
      const groups = stage.ceph?.controls.truth().groups.filter(({ pool }) => pool === pooled) ?? []
      const count = oneOf(random, [groups.length * 2, groups.length + between(random, 1, 6)])
      tell(`${pooled} is to have ${count} placement groups`)
      mendLater(ports, () => setPool(ports, 'pg_num', String(groups.length)))
      await setPool(ports, 'pg_num', String(count))
    },
  },
  'the balancer moves placement groups': {
    row: 'F19',
    fits: withCeph,
    async apply(ports) {
      const { stage, random, tell } = ports
      const osds = stage.description.ceph?.osds ?? []
      const hostOf = (id: number) => osds.find((osd) => osd.id === id)?.node
      const groups = stage.ceph?.controls.truth().groups ?? []
      for (const { id, acting } of groups.filter(() => random.next() < 0.3).slice(0, 4)) {
        if (acting.length === 0) continue
        const from = oneOf(random, acting)
        const hosts = acting.filter((osd) => osd !== from).map(hostOf)
        const free = osds.filter((osd) => !acting.includes(osd.id) && !hosts.includes(osd.node))
        if (free.length === 0) continue
        const to = oneOf(random, free).id
        tell(`the balancer moves placement group ${id} from osd.${from} to osd.${to}`)
        meddle(ports)
        mendLater(ports, () => {
          meddle(ports)
          return run(ports, { prefix: 'osd rm-pg-upmap-items', pgid: id })
        })
        await run(ports, { prefix: 'osd pg-upmap-items', pgid: id, id: [String(from), String(to)] })
      }
    },
  },
  'an OSD returns on another host': {
    row: 'F20',
    fits: withCeph,
    async apply(ports) {
      const { tell, excuses } = ports
      const { moved, host } = drawMove(ports)
      tell(`the disk of osd.${moved.id} is put from ${moved.node} into ${host}`)
      excuses.broke(`osd ${moved.id}`)
      mendLater(ports, () => {
        excuses.broke(`osd ${moved.id}`)
        const home = ports.stage.heirs.heirOf(moved.node)
        ports.stage.ceph?.controls.moveDisk(moved.id, home, moved.node)
        return deployAt(ports, moved.id, home)
      })
      ports.stage.ceph?.controls.moveDisk(moved.id, host)
      // On a host that is not registered it stays down until it is put back.
      if (ports.stage.views.of(nodes).get(host) !== undefined) await deployAt(ports, moved.id, host)
    },
  },
}

/**
 * Rook prepares each node anew, and finds disks where they are, whatever Deployments say that came out of a backup. They are asked for: in the
 * moment of the restore no view has heard of it.
 */
export async function redeployMoved(ports: DeedPorts): Promise<void> {
  const { api, description, ceph } = ports.stage
  const { namespace } = description.ceph ?? {}
  if (namespace === undefined) return
  const { items } = await api.list(deployments, { namespace })
  for (const { id } of description.ceph?.osds ?? []) {
    const node = ceph?.controls.hostOfDisk(id)
    const { spec } = items.find(({ metadata }) => metadata.name === `rook-ceph-osd-${id}`) ?? {}
    const deployed = spec?.template.spec?.nodeSelector?.['kubernetes.io/hostname']
    if (node !== undefined && deployed !== undefined && deployed !== node) await deployAt(ports, id, node)
  }
}

/** As Rook deploys it where its disk is: on that node, with the labels of its place. Rejects while the node is not registered. */
async function deployAt(ports: DeedPorts, osd: number, node: string): Promise<void> {
  const { api, description, views, heirs } = ports.stage
  meddle(ports)
  const place = heirs.firstOf(node)
  const given = views.of(nodes).get(node)?.metadata.labels
  if (given === undefined) throw new Error(`${node} is not registered`)
  const labels: Record<string, string> = { 'failure-domain': place, 'topology-location-host': place }
  for (const [type, label] of Object.entries(labelOfType)) {
    const name = given[label]
    if (name !== undefined) labels[`topology-location-${type}`] = name
  }
  const template = { metadata: { labels }, spec: { nodeSelector: { 'kubernetes.io/hostname': node } } }
  const key = { namespace: description.ceph?.namespace ?? '', name: `rook-ceph-osd-${osd}` }
  await api.patch(deployments, key, { type: 'merge', body: { metadata: { labels }, spec: { template } } })
}
