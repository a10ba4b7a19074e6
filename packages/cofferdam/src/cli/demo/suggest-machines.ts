import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { MachinesDescription } from '@cofferdam/simulator/cluster-file/describe-machines.ts'
import { machineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import type { Choice, Suggestion } from './suggestion.ts'

/** With the names of this very cluster; nothing where nobody takes sick machines away. */
export async function suggestMachines(
  api: Pick<KubeApi, 'list'>,
  description: MachinesDescription | undefined,
  calledAs: string,
): Promise<Suggestion[]> {
  if (description?.healthCheck === undefined) return []
  const [machines, pods] = await Promise.all([api.list(machineKinds(description.api).machines), api.list(podType)])
  const { after } = description.healthCheck
  return suggestFence({ machines: machines.items, pods: pods.items, after }, { calledAs })
}

/** A dead machine with OSDs that somebody replaces or reboots; nothing where there is none to show it on. */
export function suggestFence(
  {
    machines,
    pods,
    after,
  }: { readonly machines: readonly Machine[]; readonly pods: readonly Pod[]; readonly after: number },
  { calledAs }: Pick<Choice, 'calledAs'>,
): Suggestion[] {
  const withOsds = new Set(
    pods.flatMap(({ metadata, spec }) => (metadata.labels?.['app'] === 'rook-ceph-osd' ? (spec.nodeName ?? []) : [])),
  )
  const chosen = machines
    .map(({ metadata, status }) => ({ namespace: metadata.namespace ?? '', node: status?.nodeRef?.name ?? '' }))
    .filter(({ node }) => withOsds.has(node))
    .sort((a, b) => (a.node < b.node ? 1 : -1))[0]
  if (chosen === undefined) return []
  const { namespace, node } = chosen
  return [
    {
      says: `Switch ${node} off, as if its machine had died: when it has not been Ready for ${after} s it is fenced, and no other machine with OSDs is until all data is clean again`,
      lines: [
        `kubectl annotate node ${node} cofferdam.io/power=off`,
        `${calledAs} explain node/${node}`,
        `kubectl -n ${namespace} get machines,mdb`,
        `${calledAs} status`,
      ],
    },
  ]
}
