/** A fact read from outside. `unknown` is a value, so every decision must say what it does without it. */
export type Observed<T> = { readonly known: true; readonly value: T } | { readonly known: false; readonly why: string }

export function known<T>(value: T): Observed<T> {
  return { known: true, value }
}

export function unknown(why: string): { readonly known: false; readonly why: string } {
  return { known: false, why }
}
