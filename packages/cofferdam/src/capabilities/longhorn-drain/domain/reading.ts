type Fields = Readonly<Record<string, unknown>>

/**
 * Reads fields of one object that may hold anything. The first field that cannot be what it should be is remembered;
 * a missing one is not wrong, and takes its default.
 */
export class Reading {
  why: string | undefined

  fields(value: unknown, path: string): Fields {
    if (value === undefined || value === null) return {}
    if (typeof value === 'object' && !Array.isArray(value)) return value as Fields
    return this.#wrong(path, 'an object', {})
  }

  text(value: unknown, path: string, otherwise = ''): string {
    if (value === undefined || value === null) return otherwise
    return typeof value === 'string' ? value : this.#wrong(path, 'a text', otherwise)
  }

  /** A text that must be there. */
  name(value: unknown, path: string): string {
    const text = this.text(value, path)
    return text === '' ? this.#wrong(path, 'set', '') : text
  }

  flag(value: unknown, path: string): boolean {
    if (value === undefined || value === null) return false
    return typeof value === 'boolean' ? value : this.#wrong(path, 'true or false', false)
  }

  /** Zero or more; 64-bit numbers may come as texts. */
  count(value: unknown, path: string): number {
    if (value === undefined || value === null) return 0
    const number = typeof value === 'string' && /^\d{1,19}$/.test(value) ? Number(value) : value
    return typeof number === 'number' && number >= 0 && Number.isFinite(number)
      ? number
      : this.#wrong(path, 'a number from 0', 0)
  }

  #wrong<T>(path: string, expected: string, otherwise: T): T {
    this.why ??= `${path} is not ${expected}`
    return otherwise
  }
}
