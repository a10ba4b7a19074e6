const labelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`
const serviceFormat = '[a-z]([-a-z0-9]*[a-z0-9])?'
const keyFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const labelPattern = new RegExp(`^${labelFormat}$`)
const subdomainPattern = new RegExp(`^${subdomainFormat}$`)
const servicePattern = new RegExp(`^${serviceFormat}$`)
const keyPattern = new RegExp(`^${keyFormat}$`)
const valuePattern = new RegExp(`^(${keyFormat})?$`)

export type NameRule = 'subdomain' | 'label' | 'path'

/** What is wrong with a name, in the words of the real server; empty when it is right. */
export function nameErrors(name: string, rule: NameRule): string[] {
  if (rule === 'path') return pathSegmentErrors(name)
  return rule === 'label' ? labelErrors(name) : subdomainErrors(name)
}

export function subdomainErrors(name: string): string[] {
  const errors: string[] = []
  if (name.length > 253) errors.push('must be no more than 253 characters')
  if (!subdomainPattern.test(name)) {
    errors.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomainFormat}')`,
    )
  }
  return errors
}

export function labelErrors(name: string): string[] {
  const errors: string[] = []
  if (name.length > 63) errors.push(tooLong(63))
  if (labelPattern.test(name)) return errors
  errors.push(
    subdomainPattern.test(name)
      ? 'must not contain dots'
      : `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${labelFormat}')`,
  )
  return errors
}

/** Names that start with a letter: services, and the words a custom resource is known by. */
export function serviceNameErrors(name: string): string[] {
  const errors: string[] = []
  if (name.length > 63) errors.push(tooLong(63))
  if (!servicePattern.test(name)) {
    errors.push(
      `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${serviceFormat}')`,
    )
  }
  return errors
}

function pathSegmentErrors(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%'].filter((text) => name.includes(text)).map((text) => `may not contain '${text}'`)
}

const keyRule = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${keyFormat}')`

/** A key as labels, annotations and finalizers have it: a name, with a DNS subdomain before it or not. */
export function qualifiedNameErrors(key: string): string[] {
  const slash = key.indexOf('/')
  if (slash < 0 && key.length <= 63 && keyPattern.test(key)) return []
  const parts = key.split('/')
  if (parts.length > 2) {
    return [`a valid label key ${keyRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const name = parts[parts.length - 1] as string
  const errors: string[] = []
  if (parts.length === 2) {
    const prefix = parts[0] as string
    if (prefix === '') errors.push('prefix part must be non-empty')
    else errors.push(...subdomainErrors(prefix).map((error) => `prefix part ${error}`))
  }
  if (name === '') errors.push('name part must be non-empty')
  else if (name.length > 63) errors.push(`name part ${tooLong(63)}`)
  if (!keyPattern.test(name)) errors.push(`name part ${keyRule}`)
  return errors
}

const standardFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Whose a finalizer is must show from its name, so that somebody removes it. */
export function finalizerOwnerErrors(finalizer: string): string[] {
  if (finalizer.includes('/') || standardFinalizers.includes(finalizer)) return []
  return ['name is neither a standard finalizer name nor is it fully qualified']
}

export function labelValueErrors(value: string): string[] {
  const errors: string[] = []
  if (value.length > 63) errors.push(tooLong(63))
  if (!valuePattern.test(value)) {
    errors.push(
      `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${keyFormat})?')`,
    )
  }
  return errors
}

function tooLong(most: number): string {
  return `must be no more than ${most} bytes`
}
