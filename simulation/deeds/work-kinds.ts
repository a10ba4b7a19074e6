import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { disruptionPolicies, policyName } from '@cofferdam/product/shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { runNodeDrain, setCordon } from '@cofferdam/simulator/world/tools/kubectl-drain.ts'
import { observeNoout } from '../observe-noout.ts'
import { shop } from '../oracle/watch-apps.ts'
import { readUpdateNoout } from '../recorded-noout.ts'
import { between, oneOf } from '../story.ts'
import { always, type DeedKind, type DeedPorts, withCeph } from './deed-kind.ts'

/** Nobody waits for ever: whoever drains gives up and opens the node again. */
const patienceMs = 10 * 60_000

async function openNode({ stage, tell }: DeedPorts, name: string): Promise<void> {
  await setCordon(stage, name, false).catch(() => undefined)
  const { kured } = stage
  if (kured?.isRebootRequired(name) !== true || !kured.holders().includes(name)) return
  // It has listed its pods, and an OSD that came back since is not among them: what follows the OSD would be refused for ever.
  tell(`the pod of kured on ${name} is restarted, for it was draining there`)
  kured.restartPod(name)
}

/** What people and tools do on a working day. */
export const workKinds: Readonly<Record<string, DeedKind>> = {
  'kubectl drain, reboot, uncordon': {
    fits: always,
    async apply(ports) {
      const { stage, random, tell, atHome } = ports
      const name = oneOf(random, stage.shape.nodes)
      const isRebooted = random.next() < 0.6
      let isHome = false
      atHome(() => {
        isHome = true
        return openNode(ports, name)
      })
      tell(`somebody drains ${name}`)
      await setCordon(stage, name, true)
      const why = await runNodeDrain(stage, name, { timeoutMs: patienceMs, isAlive: () => !isHome })
      tell(`the drain of ${name} ${why === undefined ? 'is over' : `gave up: ${why.slice(0, 80)}`}`)
      if (why === undefined && isRebooted && stage.world.kubelet.isOn(name)) {
        stage.world.kubelet.reboot(name, between(random, 20, 90))
        await sleep(stage.clock, 100_000)
      }
      await openNode(ports, name)
    },
  },
  'a request to reboot': {
    fits: always,
    async apply({ stage, random, number, tell }) {
      const nodeName = oneOf(random, stage.shape.nodes)
      tell(`somebody asks for a reboot of ${nodeName}`)
      await stage.api.create(nodeDisruptions, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name: `request-${number}` },
        spec: {
          nodeName,
          intent: 'Reboot',
          honourSkipDrain: random.next() < 0.8,
          force: random.next() < 0.3,
          deleteEmptyDirData: true,
          ...(random.next() < 0.3 && { fallbackAfter: '3m' }),
        },
      })
    },
  },
  'kured needs a reboot': {
    fits: ({ hasKured }) => hasKured,
    apply({ stage, random, tell }) {
      const name = oneOf(random, stage.shape.nodes)
      tell(`kured finds the sentinel on ${name}`)
      stage.kured?.requireReboot(name)
    },
  },
  'OSDs get a new image': {
    fits: withCeph,
    async apply({ stage, tell, number }) {
      const { namespace, name } = stage.description.ceph ?? {}
      if (namespace === undefined || name === undefined) return
      tell('OSDs are to run another version')
      const body = { spec: { cephVersion: { image: `quay.io/ceph/ceph:v19.2.${3 + (number % 5)}` } } }
      await stage.api.patch(cephClusters, { namespace, name }, { type: 'merge', body })
    },
  },
  'an owner locks a budget': {
    fits: ({ apps }) => apps.length > 0,
    async apply({ stage, random, tell, writes, atHome }) {
      const name = oneOf(random, stage.shape.apps)
      const lock = (text: string | null) =>
        stage.api.patch(
          podDisruptionBudgets,
          { namespace: shop, name },
          { type: 'merge', body: { metadata: { annotations: { [appLockAnnotation]: text } } } },
        )
      const until = rfc3339(stage.clock.now() + between(random, 1, 8) * 60_000)
      tell(`the owner of ${name} locks it until ${until}`)
      atHome(() => lock(null).catch(() => undefined))
      await lock(JSON.stringify({ until, holder: 'bob', reason: 'rebalance' }))
      writes.locked(name)
    },
  },
  'a policy limits nodes': {
    fits: always,
    async apply({ stage, random, tell, atHome }) {
      const maxNodes = between(random, 0, 3)
      tell(`the policy lets ${maxNodes} nodes be away`)
      const key = { name: policyName }
      await stage.api.delete(disruptionPolicies, key).catch(() => undefined)
      atHome(() => stage.api.delete(disruptionPolicies, key).catch(() => undefined))
      await stage.api.create(disruptionPolicies, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'DisruptionPolicy',
        metadata: key,
        spec: { limits: [{ name: 'all', maxNodes }] },
      })
    },
  },
  'a colleague cordons a node for a while': {
    fits: always,
    async apply(ports) {
      const { stage, random, tell, atHome } = ports
      const name = oneOf(random, stage.shape.nodes)
      tell(`a colleague cordons ${name}`)
      atHome(() => openNode(ports, name))
      await stage.api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } })
      await sleep(stage.clock, between(random, 10, 200) * 1_000)
      await openNode(ports, name)
    },
  },
  'an admin sets noout by hand': {
    fits: withCeph,
    async apply({ stage, random, tell, handSet, contested, excuses }) {
      const who = `osd.${oneOf(random, stage.shape.osds)}`
      const before = await observeNoout(stage)
      tell(`an admin sets noout on ${who}${before.includes(who) ? ', where it is set already' : ''}`)
      await stage.ceph?.commands.run({ prefix: 'osd set-group', flags: 'noout', who: [who] })
      // Ceph knows no owner of a flag: one that an update has set, or has not yet seen gone, goes with it. So does one that comes while
      // a process that was about to set it stands still: its note that it will may be written after this.
      const isOfUpdate = before.includes(who) || (await readUpdateNoout(stage)).includes(who)
      if (isOfUpdate) return
      if (excuses.isAttendedFor(0)) handSet.add(who)
      else contested.add(who)
    },
  },
}
