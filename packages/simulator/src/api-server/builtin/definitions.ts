import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ResourceDefinition, ResourceStrategy, ScaleSubresource } from '../resource-definition.ts'
import { columnsOf } from '../tables/columns.ts'
import { builtinKinds, type KindEntry } from './kinds.ts'
import { taintingNodeStrategy } from './node-strategy.ts'
import { podStrategyWith } from './pod-strategy.ts'
import { builtinSchema, type OptionalField } from './schemas.ts'
import { fieldReadersOf } from './selectable-fields.ts'
import { strategyOf } from './strategies.ts'

export type Answer = NonNullable<ResourceStrategy['answer']>

export interface BuiltinOptions {
  /** Answers to the kinds that are questions, by kind: whoever knows users and roles gives them. */
  readonly answers?: Readonly<Record<string, Answer>>
  /** A field of pods that is off by default. */
  readonly optionalField?: OptionalField | undefined
  readonly plugins?: AdmissionPlugins | undefined
}

/** Admission plugins of the real server that change what is written. */
export interface AdmissionPlugins {
  /** Pods that name no account run under `default`. Default: on. */
  readonly serviceAccount?: boolean
  /** New nodes are tainted until their kubelet has reported. Default: off; the embedded world taints nodes itself. */
  readonly taintNodesByCondition?: boolean
}

/** Every built-in resource the server serves as a collection of its own. */
export function builtinResources(options: BuiltinOptions = {}): ResourceDefinition[] {
  return builtinKinds.map((entry) => definitionOf(entry, options))
}

const replicas: ScaleSubresource = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
}

function definitionOf(entry: KindEntry, { answers, optionalField, plugins = {} }: BuiltinOptions): ResourceDefinition {
  const answer = answers?.[entry.kind]
  const { group, version, plural, kind } = entry
  const schema = builtinSchema(apiVersionOf(entry), kind, optionalField)
  if (schema === undefined) throw new RangeError(`no schema for ${kind} in ${apiVersionOf(entry)}`)
  const strategy = strategyUnder(plugins, entry) ?? strategyOf(entry)
  const storageKey = group === '' ? plural : `${group}/${plural}`
  return {
    type: { group, version, plural, kind, namespaced: entry.namespaced !== false },
    listKind: `${kind}List`,
    singular: entry.singular ?? kind.toLowerCase(),
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    schema,
    origin: 'builtin',
    storageKey,
    storageVersion: version,
    hasStatus: entry.hasStatus === true,
    ...(entry.scale === true ? { scale: replicas } : {}),
    postSubresources: entry.postSubresources ?? [],
    selectableFields: entry.selectableFields ?? [],
    fieldReaders: fieldReadersOf(storageKey),
    hasGeneration: entry.hasGeneration === true,
    ...(entry.countsAnnotations === true ? { countsAnnotations: true } : {}),
    columns: columnsOf({ group, kind }),
    strategy: answer === undefined ? strategy : { ...strategy, answer },
  }
}

function strategyUnder(plugins: AdmissionPlugins, { group, kind }: KindEntry): ResourceStrategy | undefined {
  if (group !== '') return undefined
  if (kind === 'Pod' && plugins.serviceAccount === false) return podStrategyWith({ account: undefined })
  return kind === 'Node' && plugins.taintNodesByCondition === true ? taintingNodeStrategy : undefined
}
