import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import type { PathElement } from './path-element.ts'

/** One field of an object, as field ownership sees it. */
export interface FieldSlot {
  readonly element: PathElement
  readonly plan: FieldPlan
  /** Named by the schema, rather than a key of a map. */
  readonly isDeclared: boolean
  /** Set by the server for every object, and never owned by anyone. */
  readonly isUnowned: boolean
  /** What stands for the field where it is absent; undefined when absence means absence. */
  readonly whenAbsent: Json | undefined
}

const emptyObject: JsonObject = Object.freeze({})

const unownedRootFields = new Set(['apiVersion', 'kind'])
const unownedMetadataFields = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
])

/**
 * Fields of built-in kinds that the real server keeps as plain structures, not as pointers: they are there whenever
 * their parent is, so nobody ever adds them and only what lies below them is owned.
 */
const structures = new Set([
  'acceptedNames',
  'daemonEndpoints',
  'jobTemplate',
  'kubeletEndpoint',
  'loadBalancer',
  'metadata',
  'names',
  'nodeInfo',
  'resources',
  'source',
  'spec',
  'status',
  'strategy',
  'template',
  'updateStrategy',
])

/** Lists that the real server writes out as null when they are not there. */
const writtenLists = new Set(['containers'])

type Position = 'root' | 'metadata' | 'inside'

/** A schema read for field ownership: what is one value, what has parts, and how the parts are called. */
export class FieldPlan {
  readonly schema: Schema | undefined
  readonly list: 'atomic' | 'set' | 'map'
  readonly isAtomicMap: boolean
  /** The keys of a list of maps, sorted, with what an item that omits one is taken to have. */
  readonly keys: readonly { readonly name: string; readonly label: string; readonly default: Json | undefined }[]
  /** The names of items by the text of their only key, as far as they were needed lately. */
  readonly elements = new Map<string, PathElement>()
  readonly #position: Position
  readonly #slots = new Map<string, FieldSlot>()
  #items: FieldPlan | undefined
  #rest: FieldPlan | undefined

  constructor(schema: Schema | undefined, position: Position) {
    this.schema = schema
    this.#position = position
    this.isAtomicMap = schema?.['x-kubernetes-map-type'] === 'atomic'
    const keys = schema?.['x-kubernetes-list-map-keys'] ?? []
    const list = schema?.['x-kubernetes-list-type'] ?? 'atomic'
    this.list = list === 'map' && keys.length === 0 ? 'atomic' : list
    this.keys = keys.toSorted().map((name) => ({
      name,
      label: `${JSON.stringify(name)}:`,
      default: keyDefault(schema?.items, name),
    }))
  }

  get items(): FieldPlan {
    this.#items ??= new FieldPlan(this.schema?.items, 'inside')
    return this.#items
  }

  slot(name: string): FieldSlot {
    const known = this.#slots.get(name)
    if (known !== undefined) return known
    const declared = this.#declared(name)
    if (declared === undefined) return this.#undeclaredSlot(name)
    const isMetadata = name === 'metadata' && this.#position === 'root'
    const slot: FieldSlot = {
      element: `f:${name}`,
      plan: new FieldPlan(declared, isMetadata ? 'metadata' : 'inside'),
      isDeclared: true,
      isUnowned: this.#unowned().has(name),
      whenAbsent: this.#whenAbsent(name, declared),
    }
    this.#slots.set(name, slot)
    return slot
  }

  /** Whether the schema has a place for a field of this name. */
  allows(name: string): boolean {
    const { schema } = this
    return (
      schema?.properties === undefined ||
      schema.additionalProperties !== undefined ||
      schema['x-kubernetes-preserve-unknown-fields'] === true ||
      this.#declared(name) !== undefined
    )
  }

  #undeclaredSlot(name: string): FieldSlot {
    const rest = this.schema?.additionalProperties
    this.#rest ??= new FieldPlan(typeof rest === 'object' ? rest : undefined, 'inside')
    return { element: `f:${name}`, plan: this.#rest, isDeclared: false, isUnowned: false, whenAbsent: undefined }
  }

  #declared(name: string): Schema | undefined {
    const isResource = this.#position === 'root' || this.schema?.['x-kubernetes-embedded-resource'] === true
    if (isResource && Object.hasOwn(resourceProperties, name)) return resourceProperties[name]
    const properties = this.schema?.properties
    return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
  }

  #unowned(): ReadonlySet<string> {
    if (this.#position === 'root') return unownedRootFields
    return this.#position === 'metadata' ? unownedMetadataFields : nothing
  }

  #whenAbsent(name: string, schema: Schema): Json | undefined {
    // A custom resource, too, always has metadata.
    if (name === 'metadata' && this.#position === 'root') return emptyObject
    if (this.schema?.decoded !== true) return undefined
    const siblings = this.schema?.properties ?? {}
    // Pods point to their resources; containers and volume claims hold theirs.
    const isPointer = name === 'resources' && ('containers' in siblings || 'containerStatuses' in siblings)
    if (schema.properties !== undefined && structures.has(name) && !isPointer) return emptyObject
    return writtenLists.has(name) && schema.type === 'array' ? null : undefined
  }
}

const nothing: ReadonlySet<string> = new Set()

/** What every object has, whatever the schema of its kind says of it. */
const resourceProperties: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: builtinSchema('v1', 'ConfigMap')?.properties?.['metadata'] ?? { type: 'object' },
}

const plans = new WeakMap<Schema, FieldPlan>()

export function fieldPlanOf(schema: Schema): FieldPlan {
  const known = plans.get(schema)
  if (known !== undefined) return known
  const plan = new FieldPlan(schema, 'root')
  plans.set(schema, plan)
  return plan
}

/** A key that the types of the real server always have is empty where it was not sent. */
function keyDefault(items: Schema | undefined, name: string): Json | undefined {
  const key = items?.properties?.[name]
  if (key?.default !== undefined || key?.decoded !== true || items?.required?.includes(name) !== true)
    return key?.default
  return key.type === 'string' ? '' : key.type === 'integer' ? 0 : undefined
}
