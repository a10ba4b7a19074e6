import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceCatalogue, ResourceDefinition } from '../resource-definition.ts'

/** The built-in resources, and the custom ones for as long as their definitions are there. */
export class ResourceRegistry implements ResourceCatalogue {
  readonly #builtin: readonly ResourceDefinition[]
  readonly #custom = new Map<string, readonly ResourceDefinition[]>()
  #byPath: ReadonlyMap<string, ResourceDefinition>
  #all: readonly ResourceDefinition[]
  #revision = 1

  constructor(builtin: readonly ResourceDefinition[]) {
    this.#builtin = builtin.map(withSharedStorage)
    this.#all = this.#builtin
    this.#byPath = byPath(this.#all)
  }

  get revision(): number {
    return this.#revision
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  all(): readonly ResourceDefinition[] {
    return this.#all
  }

  /** Whether a resource of another origin, or of another definition, has this group and plural already. */
  isTaken(group: string, plural: string, definedBy: string): boolean {
    if (this.#builtin.some(({ type }) => type.group === group && type.plural === plural)) return true
    for (const [name, [first]] of this.#custom) {
      if (name !== definedBy && first?.type.group === group && first.type.plural === plural) return true
    }
    return false
  }

  /** Serves what a CustomResourceDefinition defines, in place of what it defined before. */
  define(crd: KubeObject, definitions: readonly ResourceDefinition[]): void {
    this.#custom.set(crd.metadata.name, definitions)
    this.#refresh()
  }

  /** What a CustomResourceDefinition defines now. */
  definedBy(name: string): readonly ResourceDefinition[] {
    return this.#custom.get(name) ?? []
  }

  undefine(name: string): void {
    if (this.#custom.delete(name)) this.#refresh()
  }

  #refresh(): void {
    this.#all = [...this.#builtin, ...[...this.#custom.values()].flat()]
    this.#byPath = byPath(this.#all)
    this.#revision += 1
  }
}

/** Events of both groups are the same objects. */
function withSharedStorage(definition: ResourceDefinition): ResourceDefinition {
  if (definition.type.group !== 'events.k8s.io') return definition
  return { ...definition, storageKey: 'events', storageVersion: 'v1' }
}

function byPath(definitions: readonly ResourceDefinition[]): ReadonlyMap<string, ResourceDefinition> {
  return new Map(definitions.map((each) => [`${each.type.group}/${each.type.version}/${each.type.plural}`, each]))
}
