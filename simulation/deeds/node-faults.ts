import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { fenceLabelPrefix } from '@cofferdam/product/capabilities/fencing/domain/fence-labels.ts'
import { buildNode } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import { machineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { between, oneOf } from '../story.ts'
import type { FaultKind } from './deed-kind.ts'

const longMs = 10 * 60_000

const minuteMs = 60_000

/** Nodes and machines that go and come back as others of the same name. */
export const nodeFaults: Readonly<Record<string, FaultKind>> = {
  'a node is deleted and registers again': {
    row: 'F22',
    // A health check replaces a machine that has lost its Node by one of another name.
    fits: ({ hasMachines }) => !hasMachines,
    async apply({ stage, random, tell, excuses, atHome }) {
      const { api, world, clock } = stage
      const name = oneOf(random, stage.shape.nodes)
      const before = await api.get(nodes, { name }).catch(() => undefined)
      const description = stage.description.nodes.find((node) => node.name === name)
      if (before === undefined || description === undefined || !world.kubelet.isOn(name)) return
      const isOff = random.next() < 0.5
      const forMs = isOff ? between(random, 10, 180) * 1_000 : 0
      tell(
        `the node ${name} is deleted${isOff ? ` with its machine off, and registers after ${forMs / 1_000} s` : ' and registers at once'}`,
      )
      excuses.broke(`node ${name}`)
      excuses.meddled('nodes', forMs + longMs)
      if (isOff) world.kubelet.powerOff(name)
      await api.delete(nodes, { name }).catch(() => undefined)
      const register = async () => {
        // A machine that ran on is the boot that it was.
        const status = isOff ? undefined : { nodeInfo: before.status?.nodeInfo }
        await api
          .create(nodes, { ...buildNode(description), ...(status && { status }) } as typeof before)
          .catch(() => undefined)
      }
      atHome(register)
      if (forMs === 0) await register()
      else clock.after(forMs, () => void register())
    },
  },
  'a machine is deleted past its finalizers and created again': {
    row: 'F13',
    fits: ({ hasMachines }) => hasMachines,
    async apply({ stage, random, tell, excuses }) {
      const { api, description } = stage
      if (description.machines === undefined || description.machines.api === 'none') return
      const { machines, namespace } = machineKinds(description.machines.api)
      const { items } = await api.list(machines, { namespace })
      const running = items.filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && status?.nodeRef !== undefined,
      )
      if (running.length === 0) return
      const { metadata, status, ...rest } = oneOf(random, running)
      const { name, ownerReferences = [], finalizers = [] } = metadata
      const labels = Object.fromEntries(
        Object.entries(metadata.labels ?? {}).filter(([key]) => !key.startsWith(fenceLabelPrefix)),
      )
      const key = { namespace, name }
      tell(`the machine ${name} is created again, as from a backup`)
      excuses.hindered(minuteMs)
      // Nothing comes between these, so that its set makes no other in its stead.
      await Promise.all([
        api.patch(machines, key, { type: 'merge', body: { metadata: { finalizers: null } } }),
        api.delete(machines, key),
        api.create(machines, { ...rest, metadata: { ...key, labels, ownerReferences, finalizers } }),
        api.patch(machines, key, { type: 'merge', body: { status: status as JsonObject } }, { subresource: 'status' }),
      ])
    },
  },
}
