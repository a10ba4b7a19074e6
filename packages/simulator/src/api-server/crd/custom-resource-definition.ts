import type { Condition, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Schema } from '../schema/schema.ts'

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as far as the server reads it. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly scope: 'Namespaced' | 'Cluster'
    readonly names: {
      readonly plural: string
      readonly kind: string
      readonly singular?: string
      readonly listKind?: string
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }
    readonly versions: readonly CustomResourceVersion[]
    readonly conversion?: { readonly strategy?: string; readonly webhook?: object }
    readonly preserveUnknownFields?: boolean
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly storedVersions?: readonly string[]
    readonly acceptedNames?: object
  }
}

export interface CustomResourceVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: Schema }
  readonly subresources?: {
    readonly status?: object
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}
