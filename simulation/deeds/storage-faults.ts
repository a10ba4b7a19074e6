import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { between, oneOf } from '../story.ts'
import { always, type DeedPorts, type FaultKind, withCeph, withLonghorn } from './deed-kind.ts'

function meddleWithApps({ excuses }: DeedPorts, forMs: number): void {
  excuses.meddled('nodes', forMs)
}

/** What breaks of itself: disks, machines, copies. */
export const storageFaults: Readonly<Record<string, FaultKind>> = {
  'a disk dies': {
    row: 'F20',
    fits: withCeph,
    apply({ stage, random, tell, excuses, atHome }) {
      const osd = oneOf(random, stage.shape.osds)
      tell(`the disk of osd.${osd} dies`)
      excuses.broke(`osd ${osd}`)
      stage.ceph?.controls.failDisk(osd)
      const mend = () => stage.ceph?.controls.mendDisk(osd)
      atHome(mend)
      stage.clock.after(between(random, 60, 300) * 1_000, mend)
    },
  },
  'a machine loses its power': {
    row: 'F22',
    fits: always,
    apply(ports) {
      const { stage, random, tell, excuses, atHome } = ports
      const { kubelet } = stage.world
      const name = oneOf(random, stage.shape.nodes)
      if (!kubelet.isOn(name)) return
      const ms = between(random, 20, 240) * 1_000
      tell(`the machine of ${name} loses its power for ${ms / 1_000} s`)
      excuses.broke(`node ${name}`)
      meddleWithApps(ports, ms + 10 * 60_000)
      kubelet.powerOff(name)
      const mend = () => {
        // A health check may have had it replaced meanwhile.
        if (!kubelet.isOn(name) && stage.views.of(nodes).get(name) !== undefined) kubelet.powerOn(name)
      }
      atHome(mend)
      stage.clock.after(ms, mend)
    },
  },
  'a kubelet says that it is not ready': {
    row: 'F22',
    fits: always,
    apply(ports) {
      const { stage, random, tell, excuses, atHome } = ports
      const { kubelet } = stage.world
      const name = oneOf(random, stage.shape.nodes)
      if (!kubelet.isOn(name)) return
      tell(`${name} is not ready`)
      excuses.broke(`node ${name}`)
      meddleWithApps(ports, 20 * 60_000)
      kubelet.setReady(name, false, 'the container runtime does not answer')
      const mend = () => {
        // Also while it reboots. A health check may have had it replaced meanwhile.
        if (stage.views.of(nodes).get(name) !== undefined) kubelet.setReady(name, true)
      }
      atHome(mend)
      stage.clock.after(between(random, 30, 400) * 1_000, mend)
    },
  },
  'a copy of a Longhorn volume fails': {
    row: 'F21',
    fits: withLonghorn,
    apply({ stage, random, tell, excuses }) {
      const replicas = [...stage.views.of(longhornReplicas).values()]
      if (replicas.length === 0) return
      const { metadata, spec } = oneOf(random, replicas)
      tell(`a copy of ${spec?.volumeName} fails`)
      excuses.broke(`volume ${spec?.volumeName}`)
      stage.longhorn?.controls.failReplica(metadata.name)
    },
  },
  'rebuilds stand still': {
    row: 'F21',
    fits: withLonghorn,
    apply({ stage, random, tell, atHome }) {
      tell('rebuilds of Longhorn stand still')
      const mend = () => stage.longhorn?.controls.setRate(32 * 1024 ** 2)
      stage.longhorn?.controls.setRate(0)
      atHome(mend)
      stage.clock.after(between(random, 30, 200) * 1_000, mend)
    },
  },
}
