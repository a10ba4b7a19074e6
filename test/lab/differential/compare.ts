import { isJsonObject, isSameJson, type Json } from '@cofferdam/kubernetes/api/json.ts'

/** One place where two answers differ; `undefined` where one of them has nothing. */
export interface Difference {
  readonly path: string
  readonly real: Json | undefined
  readonly embedded: Json | undefined
}

/** Where two values differ, as deep inside as it can be told. */
export function differencesOf(real: Json | undefined, embedded: Json | undefined, path = ''): Difference[] {
  if (isSameJson(real, embedded)) return []
  if (Array.isArray(real) && Array.isArray(embedded) && real.length === embedded.length) {
    return real.flatMap((item: Json, index) => differencesOf(item, embedded[index] as Json, `${path}[${index}]`))
  }
  if (isJsonObject(real) && isJsonObject(embedded)) {
    const fields = [...new Set([...Object.keys(real), ...Object.keys(embedded)])]
    return fields.flatMap((field) =>
      differencesOf(real[field], embedded[field], path === '' ? field : `${path}.${field}`),
    )
  }
  return [{ path, real, embedded }]
}
