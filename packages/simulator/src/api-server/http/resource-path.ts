/** A path below `/api/v1` or `/apis/GROUP/VERSION` that names a collection, an object or a subresource. */
export interface ResourcePath {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

const namespaceSubresources = new Set(['status', 'finalize'])

/** Undefined when the path is too short or too long to name a resource. */
export function parseResourcePath(segments: readonly string[]): ResourcePath | undefined {
  const isCore = segments[0] === 'api'
  if (!isCore && segments[0] !== 'apis') return undefined
  const [version, group] = isCore ? [segments[1], ''] : [segments[2], segments[1]]
  const rest = segments.slice(isCore ? 2 : 3)
  if (!version || group === undefined || rest.length === 0 || rest.includes('')) return undefined
  const isScoped = rest[0] === 'namespaces' && rest.length > 2 && !namespaceSubresources.has(rest[2] as string)
  const namespace = isScoped ? rest[1] : undefined
  const [plural, name, subresource, ...tooMany] = isScoped ? rest.slice(2) : rest
  if (plural === undefined || tooMany.length > 0) return undefined
  return {
    group,
    version,
    plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  }
}
