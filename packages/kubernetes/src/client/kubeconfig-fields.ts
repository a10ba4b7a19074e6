import { dirname, resolve } from 'node:path'
import { CofferdamError } from '../errors.ts'
import type { Material } from './cluster-connection.ts'

/**
 * Reads the fields of one mapping in a kubeconfig, and says where it stands when one is wrong.
 *
 * Guarantees: no message ever contains a value, since any value may be a secret; null and empty text count as absent, as
 * in kubectl.
 */
export class KubeconfigFields {
  readonly file: string
  readonly place: string
  readonly #values: Readonly<Record<string, unknown>>

  constructor(values: unknown, file: string, place = '') {
    this.file = file
    this.place = place
    if (typeof values !== 'object' || values === null || Array.isArray(values)) {
      throw this.#invalid(place, 'must be a mapping of fields', 'compare it with the output of `kubectl config view`')
    }
    this.#values = values as Record<string, unknown>
  }

  has(name: string): boolean {
    const value = this.#values[name]
    return value !== undefined && value !== null && value !== ''
  }

  text(name: string): string | undefined {
    if (!this.has(name)) return undefined
    const value = this.#values[name]
    if (typeof value === 'string') return value
    throw this.wrong(name, 'must be text', 'put the value in quotes')
  }

  requiredText(name: string, remedy: string): string {
    const value = this.text(name)
    if (value === undefined) throw this.wrong(name, 'is missing', remedy)
    return value
  }

  flag(name: string): boolean {
    if (!this.has(name)) return false
    const value = this.#values[name]
    if (typeof value === 'boolean') return value
    throw this.wrong(name, 'must be true or false', 'write true or false without quotes')
  }

  texts(name: string): readonly string[] {
    return this.#array(name).map((value) => {
      if (typeof value === 'string') return value
      throw this.wrong(name, 'must be a list of texts', 'put each value in quotes')
    })
  }

  fields(name: string): KubeconfigFields | undefined {
    return this.has(name) ? new KubeconfigFields(this.#values[name], this.file, this.#at(name)) : undefined
  }

  list(name: string): readonly KubeconfigFields[] {
    return this.#array(name).map(
      (value, index) => new KubeconfigFields(value, this.file, `${this.#at(name)}[${index}]`),
    )
  }

  names(): readonly string[] {
    return Object.keys(this.#values)
  }

  raw(name: string): unknown {
    return this.#values[name]
  }

  /** A path, which is meant relative to the folder of the kubeconfig. */
  path(name: string): string | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : resolve(dirname(this.file), value)
  }

  /** `name-data` in base64, or else the file `name` points at. */
  material(name: string): Material | undefined {
    const data = this.text(`${name}-data`)
    if (data !== undefined) return { text: this.#pem(`${name}-data`, data), origin: this.#origin(`${name}-data`) }
    const path = this.path(name)
    return path === undefined ? undefined : { path, origin: this.#origin(name) }
  }

  /** The same fields, known by a better place than their index: `users[alice]`. */
  named(place: string): KubeconfigFields {
    return new KubeconfigFields(this.#values, this.file, place)
  }

  wrong(name: string, problem: string, remedy: string): CofferdamError {
    return this.#invalid(this.#at(name), problem, remedy)
  }

  #pem(name: string, data: string): string {
    const compact = data.replace(/\s+/g, '')
    const isBase64 = compact.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(compact)
    const text = isBase64 ? Buffer.from(compact, 'base64').toString('latin1') : ''
    if (text.includes('-----BEGIN ')) return text
    const problem = isBase64 ? 'is base64, but not of a PEM file' : 'is not base64'
    const remedy = `fill it with the output of \`base64 -w0\` on the PEM file, or name that file in ${name.replace(/-data$/, '')}`
    throw this.wrong(name, problem, remedy)
  }

  #array(name: string): readonly unknown[] {
    if (!this.has(name)) return []
    const value = this.#values[name]
    if (Array.isArray(value)) return value
    throw this.wrong(name, 'must be a list', 'write each entry on a line of its own, behind a dash')
  }

  #at(name: string): string {
    return this.place === '' ? name : `${this.place}.${name}`
  }

  #origin(name: string): string {
    return `${this.file}: ${this.#at(name)}`
  }

  #invalid(field: string, problem: string, hint: string): CofferdamError {
    const subject = field === '' ? 'the whole file' : field
    return new CofferdamError('KUBECONFIG_INVALID', `${this.file}: ${subject} ${problem}`, {
      facts: { file: this.file, ...(field === '' ? {} : { field }) },
      hint,
    })
  }
}
