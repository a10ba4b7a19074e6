import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { capabilities, type OperatorCapability } from '../operator/capabilities.ts'
import { administratorKeys, withoutTrace } from './without-trace.ts'

const list: readonly OperatorCapability[] = capabilities
const traces = list.flatMap((capability) => capability.traces)
const readVerbs: readonly string[] = ['get', 'list', 'watch']

/** `poddisruptionbudgets.policy`, without a subresource. */
function writtenKinds(): string[] {
  const rights = list.flatMap(({ controllers, replicaRights = {} }) => [
    ...controllers.flatMap((controller) => controller.rights),
    ...Object.values(replicaRights).flat(),
  ])
  const writing = rights.filter(({ verbs }) => verbs.some((verb) => !readVerbs.includes(verb)))
  return [...new Set(writing.map(({ resource, group }) => `${resource.split('/')[0]}.${group}`))].sort()
}

const product = new URL('..', import.meta.url).pathname
/** They are not part of what runs in a cluster. */
const elsewhere = /(^|\/)(testing|demo)\/|\.test\.ts$|uninstall\/without-trace\.ts$/

/** Every label, annotation, finalizer and key of a ConfigMap under the domain of Cofferdam that the sources name. */
function namedKeys(): string[] {
  const files = readdirSync(product, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !elsewhere.test(file),
  )
  const found = files.flatMap((file) =>
    [...readFileSync(join(product, file), 'utf8').matchAll(/'(cofferdam\.io[/_][a-z-]+)'/g)].map(([, key = '']) => key),
  )
  return [...new Set(found)].sort()
}

describe('what an uninstalled Cofferdam leaves behind cannot be forgotten', () => {
  it('every kind that a controller may write has a trace, or a reason for none: else its marks would stay in clusters for good', () => {
    const traced = new Set(traces.map(({ type }) => `${type.plural}.${type.group}`))
    const missing = writtenKinds().filter((kind) => !traced.has(kind) && withoutTrace[kind] === undefined)
    expect(missing).toEqual([])
  })

  it('no kind is excused that is not written, or that has a trace: an excuse that is out of date would hide the next one', () => {
    const traced = new Set(traces.map(({ type }) => `${type.plural}.${type.group}`))
    const written = writtenKinds()
    const idle = Object.keys(withoutTrace).filter((kind) => !written.includes(kind) || traced.has(kind))
    expect(idle).toEqual([])
  })

  it('every label, annotation and finalizer that the sources name is taken off, or is an administrator’s own and stays', () => {
    const known = new Set([...traces.flatMap(({ keys }) => keys), ...Object.keys(administratorKeys)])
    const named = namedKeys().filter((key) => key !== 'cofferdam.io/v1alpha1')
    expect(named.filter((key) => !known.has(key))).toEqual([])
    // Without any, nothing would be shown.
    expect(named.length).toBeGreaterThan(60)
  })

  it('no key is both taken off and left: whether it stays would depend on the kind of object that is asked first', () => {
    const off = new Set(traces.flatMap(({ keys }) => keys))
    expect(Object.keys(administratorKeys).filter((key) => off.has(key))).toEqual([])
    const named = namedKeys()
    expect(Object.keys(administratorKeys).filter((key) => !named.includes(key))).toEqual([])
  })
})
