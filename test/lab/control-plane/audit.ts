/** A write that the API server accepted, as its audit log has it. */
export interface AuditedWrite {
  /** `system:serviceaccount:rook-ceph:rook-ceph-system` */
  readonly user: string
  readonly verb: 'create' | 'update' | 'patch' | 'delete'
  readonly resource: string
  /** `rook-ceph/rook-ceph-osd` */
  readonly key: string
  readonly atMs: number
}

/** Only writes, and only to what several may want to write; their subresources, such as a status, are not among them. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  omitManagedFields: true,
  rules: [
    {
      level: 'Metadata',
      verbs: ['create', 'update', 'patch', 'delete'],
      resources: [
        { group: 'policy', resources: ['poddisruptionbudgets'] },
        { group: 'apps', resources: ['deployments'] },
        { group: '', resources: ['configmaps'] },
        { group: 'ceph.rook.io', resources: ['cephclusters'] },
      ],
    },
    { level: 'None' },
  ],
}

interface AuditEvent {
  readonly verb: AuditedWrite['verb']
  readonly user: { readonly username: string }
  readonly objectRef: { readonly resource: string; readonly namespace?: string; readonly name?: string }
  readonly responseStatus?: { readonly code?: number }
  readonly requestURI: string
  readonly stageTimestamp: string
}

/** What was written, in order; attempts that were refused or only tried are left out, and so is a last line that is not whole yet. */
export function parseAudit(log: string): AuditedWrite[] {
  return log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ responseStatus, requestURI }) => (responseStatus?.code ?? 500) < 300 && !requestURI.includes('dryRun='))
    .map(({ user, verb, objectRef, stageTimestamp }) => ({
      user: user.username,
      verb,
      resource: objectRef.resource,
      key: [objectRef.namespace, objectRef.name].filter(Boolean).join('/'),
      atMs: Date.parse(stageTimestamp),
    }))
}

/** Objects that all of these users wrote since then: where they fight. */
export function writtenByAll(writes: readonly AuditedWrite[], users: readonly string[], sinceMs = 0): string[] {
  const writers = new Map<string, Set<string>>()
  for (const { user, resource, key, atMs } of writes) {
    if (atMs < sinceMs || !users.includes(user)) continue
    const object = `${resource}/${key}`
    writers.set(object, (writers.get(object) ?? new Set()).add(user))
  }
  return [...writers].flatMap(([object, by]) => (by.size === users.length ? [object] : [])).sort()
}
