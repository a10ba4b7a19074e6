import { ApiError, type StatusCause } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

type Resource = Pick<ResourceType, 'group' | 'plural'>

/** `deployments.apps`, or the bare plural in the core group. */
export function qualifiedName({ group, plural }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`
}

function detailsOf(resource: Resource, name: string) {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
  }
}

export function notFound(resource: Resource, name: string): ApiError {
  return new ApiError('NotFound', `${qualifiedName(resource)} "${name}" not found`, {
    details: detailsOf(resource, name),
  })
}

/**
 * What a path answers that no resource is served under. Without a stack: whoever waits for a kind that is not installed asks every few
 * seconds, and the trace would cost more than the answer.
 */
export function resourceNotServed(): ApiError {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return new ApiError('NotFound', 'the server could not find the requested resource', { details: {} })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

export function alreadyExists(resource: Resource, name: string, isLeaving = false): ApiError {
  const why = `${qualifiedName(resource)} "${name}" already exists`
  return new ApiError('AlreadyExists', isLeaving ? `object is being deleted: ${why}` : why, {
    details: detailsOf(resource, name),
  })
}

export function conflict(resource: Resource, name: string, why: string): ApiError {
  return new ApiError('Conflict', `Operation cannot be fulfilled on ${qualifiedName(resource)} "${name}": ${why}`, {
    details: detailsOf(resource, name),
  })
}

export function staleWrite(resource: Resource, name: string): ApiError {
  return conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

export function forbidden(resource: Resource, name: string, why: string, causes?: readonly StatusCause[]): ApiError {
  const what = name === '' ? qualifiedName(resource) : `${qualifiedName(resource)} "${name}"`
  return new ApiError('Forbidden', `${what} is forbidden: ${why}`, {
    details: { ...detailsOf(resource, name), ...(causes === undefined ? {} : { causes }) },
  })
}

/** What a new object is called by those who are asked before its name is made up, or missed. */
export function nameAtAdmission({ name, generateName }: ObjectMeta): string {
  return (generateName && name.startsWith(generateName) ? generateName : name) || 'Unknown'
}

export function badRequest(message: string): ApiError {
  return new ApiError('BadRequest', message)
}

export function methodNotAllowed(resource: Resource, verb: string): ApiError {
  return new ApiError(
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind "${qualifiedName(resource)}"`,
    {
      details: detailsOf(resource, ''),
    },
  )
}

export function expired(message: string): ApiError {
  return new ApiError('Expired', message)
}

export function tooLargeVersion(asked: number, current: number): ApiError {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  return new ApiError('Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: { causes, retryAfterSeconds: 1 },
  })
}
