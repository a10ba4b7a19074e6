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
  const { after } = description.healthCheck
  const pods = await api.list(podType)
  if (description.api === 'none') return suggestNodeFence({ pods: pods.items, after }, { calledAs })
  const machines = await api.list(machineKinds(description.api).machines)
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
  const withOsds = nodesWithOsds(pods)
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

/** The same where whoever fences knows nodes alone. */
function suggestNodeFence(
  { pods, after }: { readonly pods: readonly Pod[]; readonly after: number },
  { calledAs }: Pick<Choice, 'calledAs'>,
): Suggestion[] {
  const node = [...nodesWithOsds(pods)].sort().at(-1)
  if (node === undefined) return []
  return [
    {
      says: `Switch ${node} off, as if it had died: when it has not been Ready for ${after} s it is rebooted, and no other node with OSDs is until all data is clean again`,
      lines: [
        `kubectl annotate node ${node} cofferdam.io/power=off`,
        `${calledAs} explain node/${node}`,
        'kubectl get nodehealthchecks,leases -A',
        `${calledAs} status`,
      ],
    },
  ]
}

function nodesWithOsds(pods: readonly Pod[]): ReadonlySet<string> {
  return new Set(
    pods.flatMap(({ metadata, spec }) => (metadata.labels?.['app'] === 'rook-ceph-osd' ? (spec.nodeName ?? []) : [])),
  )
}
