import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { PlanForPage } from '../../dashboard/server/dashboard-server.ts'
import { planNodes } from '../plan/plan-nodes.ts'

/** The plan of `cofferdam plan drain --all`. Several readers that ask at once get the same one: it reads the whole cluster. */
export function createPlanForPage({
  api,
  clock,
  leaseNamespace,
}: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly leaseNamespace: string
}): PlanForPage {
  let underWay: ReturnType<PlanForPage> | undefined
  const plan: PlanForPage = async (signal) => {
    const { items } = await api.list(nodes, { signal })
    const asked = { intent: 'Reboot', honourSkipDrain: true, accepts: [] } as const
    const place = { link: { api, server: '' }, clock, signal, leaseNamespace }
    const names = items.map(({ metadata }) => metadata.name)
    const { server: _, asked: __, ...shown } = await planNodes(names, asked, place)
    return shown
  }
  return (signal) => {
    underWay ??= plan(signal).finally(() => {
      underWay = undefined
    })
    return underWay
  }
}
