import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import published from './protobuf-fields.json' with { type: 'json' }
import { bytesOf, integerOf, readFields, type WireField } from './protobuf-reader.ts'

const kinds = published.kinds as Readonly<Record<string, string>>
const messages = published.messages as unknown as Readonly<Record<string, Readonly<Record<number, string>>>>

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00])
const deepest = 100

/**
 * The object of a body in Kubernetes' protobuf form: a magic number, then an envelope that names the kind. Undefined
 * when the kind is none whose fields are known.
 *
 * @throws RangeError when the bytes are broken
 */
export function decodeProtobuf(body: Buffer): JsonObject | undefined {
  if (!body.subarray(0, 4).equals(magic)) throw new RangeError('the body does not begin as Kubernetes protobuf does')
  const envelope = readFields(body.subarray(4))
  const type = readFields(bytesOf(envelope, 1) ?? Buffer.alloc(0))
  const apiVersion = bytesOf(type, 1)?.toString('utf8') ?? ''
  const kind = bytesOf(type, 2)?.toString('utf8') ?? ''
  const name = kind === 'DeleteOptions' ? kinds[kind] : kinds[`${apiVersion}/${kind}`]
  if (name === undefined) return undefined
  return { apiVersion, kind, ...decodeMessage(name, bytesOf(envelope, 2) ?? Buffer.alloc(0), 0) }
}

interface FieldPlan {
  /** A dot: the fields of the message belong to the one around it. */
  readonly json: string
  readonly shape: 'one' | 'list' | 'map'
  readonly type: string
  /** Zero means something here; elsewhere it is how Go writes what was not set. */
  readonly keepsZero: boolean
}

const plans = new Map<string, ReadonlyMap<number, FieldPlan>>()

function planOf(name: string): ReadonlyMap<number, FieldPlan> {
  const known = plans.get(name)
  if (known) return known
  const fields = Object.entries(messages[name] ?? {}).map(([number, text]): [number, FieldPlan] => {
    const [json, described] = text.split(' ') as [string, string]
    const keepsZero = described.endsWith('?')
    const full = keepsZero ? described.slice(0, -1) : described
    const shape = full.startsWith('[]') ? 'list' : full.startsWith('{}') ? 'map' : 'one'
    return [Number(number), { json, shape, type: shape === 'one' ? full : full.slice(2), keepsZero }]
  })
  const plan = new Map(fields)
  plans.set(name, plan)
  return plan
}

function decodeMessage(name: string, bytes: Buffer, depth: number): JsonObject {
  if (depth > deepest) throw new RangeError('the protobuf message nests too deep')
  const plan = planOf(name)
  const object: Record<string, Json> = {}
  for (const field of readFields(bytes)) {
    const described = plan.get(field.number)
    if (described === undefined) continue
    const { json, shape, type, keepsZero } = described
    if (shape === 'map') {
      const entry = readFields(contentOf(field))
      const key = bytesOf(entry, 1)?.toString('utf8') ?? ''
      const value = entry.find(({ number }) => number === 2) ?? { number: 2, bytes: Buffer.alloc(0) }
      object[json] = { ...(object[json] as JsonObject | undefined), [key]: decodeValue(type, value, depth) }
    } else if (shape === 'list') {
      object[json] = [...((object[json] as Json[] | undefined) ?? []), decodeValue(type, field, depth)]
    } else if (json === '.') Object.assign(object, decodeValue(type, field, depth))
    else {
      const value = decodeValue(type, field, depth)
      const isUnset = value === null || (!keepsZero && (value === '' || value === 0 || value === false))
      if (!isUnset) object[json] = value
    }
  }
  return object
}

function decodeValue(type: string, field: WireField, depth: number): Json {
  switch (type) {
    case 'i':
      return Number(integerIn(field))
    case 't':
      return integerIn(field) !== 0n
    case 'd':
      return 'double' in field ? field.double : 0
    case 's':
      return contentOf(field).toString('utf8')
    case 'b':
      return contentOf(field).toString('base64')
    default:
      return type.startsWith('m:')
        ? decodeMessage(type.slice(2), contentOf(field), depth + 1)
        : decodeSpecial(type, field)
  }
}

/** Types that look different in JSON than on the wire. */
function decodeSpecial(type: string, field: WireField): Json {
  const fields = readFields(contentOf(field))
  switch (type) {
    case 'time':
    case 'micro':
      return decodeTime(integerOf(fields, 1), integerOf(fields, 2), type === 'micro')
    case 'quantity':
      return bytesOf(fields, 1)?.toString('utf8') ?? '0'
    case 'intstr':
      return integerOf(fields, 1) === 1 ? (bytesOf(fields, 3)?.toString('utf8') ?? '') : integerOf(fields, 2)
    case 'texts':
      return fields.map((item) => contentOf(item).toString('utf8'))
    default: {
      const raw = bytesOf(fields, 1)
      return raw === undefined || raw.length === 0 ? null : (JSON.parse(raw.toString('utf8')) as Json)
    }
  }
}

function decodeTime(seconds: number, nanos: number, isMicro: boolean): string | null {
  if (seconds === 0 && nanos === 0) return null
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) throw new RangeError('the protobuf message holds a time that is none')
  const whole = date.toISOString().slice(0, 19)
  return isMicro ? `${whole}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z` : `${whole}Z`
}

function contentOf(field: WireField): Buffer {
  if (!('bytes' in field)) throw new RangeError('a field of the protobuf message is not of its type')
  return field.bytes
}

function integerIn(field: WireField): bigint {
  if (!('integer' in field)) throw new RangeError('a field of the protobuf message is not of its type')
  return field.integer
}
