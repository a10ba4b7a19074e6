import type { Stage } from './stage/open-stage.ts'

/** The buckets and OSDs on which noout is set, as Ceph says. */
export async function observeNoout({ ceph }: Stage): Promise<readonly string[]> {
  if (ceph === undefined) return []
  const { out } = await ceph.commands.run({ prefix: 'osd dump', format: 'json' })
  const { crush_node_flags: flags = {}, osds = [] } = JSON.parse(out) as {
    readonly crush_node_flags?: Record<string, string[]>
    readonly osds?: readonly { readonly osd: number; readonly state: readonly string[] }[]
  }
  return [
    ...Object.keys(flags).filter((bucket) => flags[bucket]?.includes('noout')),
    ...osds.filter(({ state }) => state.includes('noout')).map(({ osd }) => `osd.${osd}`),
  ]
}
