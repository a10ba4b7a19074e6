/** For every file, the command that prints it. */
export const cephFiles = {
  'osd-dump.json': 'ceph osd dump',
  'pg-dump-pgs_brief.json': 'ceph pg dump pgs_brief',
  'osd-tree.json': 'ceph osd tree',
  'osd-crush-rule-dump.json': 'ceph osd crush rule dump',
  'osd-pool-ls-detail.json': 'ceph osd pool ls detail',
} as const

export type CephFile = keyof typeof cephFiles
