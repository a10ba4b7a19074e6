import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/** What comes and goes by itself. */
const restless =
  /^(pods|events|events\.events\.k8s\.io|leases\.coordination\.k8s\.io|replicasets\.apps|controllerrevisions\.apps|endpoints|endpointslices\.discovery\.k8s\.io|componentstatuses)$/

/** By kind and name, everything in the cluster that can carry a mark, with what can be one. */
export async function everyMark(
  kubectl: (...args: readonly string[]) => Promise<{ readonly stdout: string }>,
): Promise<Record<string, unknown>> {
  const { stdout } = await kubectl('api-resources', '--verbs=list', '-o', 'name')
  const kinds = stdout.split('\n').filter((kind) => kind !== '' && !restless.test(kind))
  const listed = await kubectl('get', kinds.join(), '-A', '-o', 'json')
  const { items } = JSON.parse(listed.stdout) as { readonly items: readonly KubeObject[] }
  return Object.fromEntries(
    items.map((object) => {
      const { kind, metadata, spec, status } = object as KubeObject & {
        readonly spec?: { readonly unschedulable?: boolean; readonly disruptionManagement?: unknown }
        readonly status?: { readonly conditions?: readonly { readonly type: string }[] }
      }
      const { namespace = '', name, labels = {}, annotations = {}, finalizers = [] } = metadata
      const conditions = kind === 'Node' ? (status?.conditions ?? []).map(({ type }) => type).sort() : []
      const { unschedulable, disruptionManagement } = spec ?? {}
      return [
        `${kind} ${namespace}/${name}`,
        { labels, annotations, finalizers, conditions, unschedulable, disruptionManagement },
      ]
    }),
  )
}
