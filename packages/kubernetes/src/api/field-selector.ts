export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/**
 * Reads `spec.nodeName=node-1,status.phase!=Failed`.
 *
 * @throws RangeError that names the part which cannot be read
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = []
  for (const part of text.split(/(?<!\\),/)) {
    if (part === '') continue
    const match = /^([^=!]+)(==|=|!=)(.*)$/s.exec(part)
    if (!match) throw new RangeError(`invalid field selector "${part}": expected field=value or field!=value`)
    const [, field, operator, value] = match as unknown as [string, string, string, string]
    requirements.push({
      field: field.trim(),
      operator: operator === '!=' ? '!=' : '=',
      value: value.replace(/\\([\\,=])/g, '$1'),
    })
  }
  return requirements
}

/** The value at a dotted path as field selectors compare it: absent is the empty string. */
export function fieldText(object: object, path: string): string {
  let value: unknown = object
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return ''
    value = (value as Record<string, unknown>)[step]
  }
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''
}
