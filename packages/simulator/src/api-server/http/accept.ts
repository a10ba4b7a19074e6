import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'

/** The form in which a caller wants an answer. */
export type Form =
  | { readonly as: 'object'; readonly yaml?: boolean }
  | { readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'; readonly version: string }

interface Range {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
  readonly quality: number
}

const plainTypes = new Set(['application/json', 'application/*', '*/*'])
const metaVersions = new Set(['v1', 'v1beta1'])

export function parseAccept(header: string | undefined): readonly Range[] {
  const ranges = (header ?? '').split(',').flatMap((part) => {
    const [type = '', ...pairs] = part.split(';').map((piece) => piece.trim())
    if (type === '') return []
    const parameters = Object.fromEntries(
      pairs.map((pair) => {
        const at = pair.indexOf('=')
        return at === -1 ? [pair, ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
      }),
    )
    const quality = Number(parameters['q'] ?? 1)
    return [{ type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality }]
  })
  return ranges.toSorted((left, right) => right.quality - left.quality)
}

/** The best form that can be given. Protobuf and other encodings are passed over for the next in line. */
export function chooseForm(header: string | undefined): Form {
  const ranges = parseAccept(header)
  if (ranges.length === 0) return { as: 'object' }
  for (const { type, parameters } of ranges) {
    if (type === 'application/yaml') return { as: 'object', yaml: true }
    if (!plainTypes.has(type)) continue
    const { as, v = 'v1', g } = parameters
    if (as === undefined) return { as: 'object' }
    if (g !== 'meta.k8s.io' || !metaVersions.has(v)) continue
    if (as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
      return { as, version: v }
  }
  throw new ApiError('NotAcceptable', 'only the following media types are accepted: application/json, application/yaml')
}

/** The version of aggregated discovery that is wanted before plain JSON, if one is. */
export function aggregatedVersion(header: string | undefined): 'v2' | 'v2beta1' | undefined {
  for (const { type, parameters } of parseAccept(header)) {
    if (!plainTypes.has(type)) continue
    const { as, v, g } = parameters
    if (as === undefined) return undefined
    if (as === 'APIGroupDiscoveryList' && g === 'apidiscovery.k8s.io' && (v === 'v2' || v === 'v2beta1')) return v
  }
  return undefined
}
