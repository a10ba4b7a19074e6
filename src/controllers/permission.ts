/** One right that a controller needs, as a Role grants it. Kept beside the code that uses it. */
export interface Permission {
  readonly group: string
  /** A resource, or a resource and its subresource: `nodes/status`. */
  readonly resource: string
  /** Only objects of these names; not for `create`, `list` and `watch`, where no name is known. */
  readonly names?: readonly string[]
  /** Only there; everywhere when absent. */
  readonly namespace?: string
  readonly verbs: readonly ('get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete')[]
}
