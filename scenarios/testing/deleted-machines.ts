import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { FencingFixture } from './fencing-fixture.ts'

/** What asks for the drain of a node before its Machine is deleted. */
export const drainBeforeDelete = { 'cofferdam.io/drain-before-delete': 'true' }
const hookKey = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/cofferdam'

export function isHooked({ metadata, spec }: Machine): boolean {
  const { preDrain = [] } = spec?.lifecycleHooks ?? {}
  return metadata.annotations?.[hookKey] !== undefined || preDrain.some(({ name }) => name === 'cofferdam')
}

/** The Machines of a fixture, and the requests that are made for them. */
export function machinesOf(fixture: FencingFixture) {
  const { api, kinds, views } = fixture
  const machines = () => [...views.of(kinds.machines).values()]
  const requests = (): NodeDisruption[] => [...views.of(nodeDisruptions).values()]
  return {
    machines,
    requests,
    requestOf: (node: string) => requests().find(({ spec }) => spec.nodeName === node),
    isThere: (name: string) => fixture.machineNames().includes(name),
    whenHooked: () => fixture.until('every Machine has the hook', () => machines().every(isHooked), 60),
    async remove(...names: readonly string[]): Promise<void> {
      for (const name of names) await api.delete(kinds.machines, { namespace: kinds.namespace, name })
    },
  }
}
