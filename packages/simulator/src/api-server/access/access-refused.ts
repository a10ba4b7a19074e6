import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { forbidden } from '../registry/api-errors.ts'
import type { UserInfo } from '../user-info.ts'
import type { AccessAttributes } from './policy-rule.ts'

/** 403, as the real server words it. */
export function accessRefused(user: UserInfo, asked: AccessAttributes): ApiError {
  const { verb, group, resource: plural, name = '', namespace, subresource, path } = asked
  const who = `User "${user.username}"`
  if (path !== undefined) {
    return new ApiError('Forbidden', `forbidden: ${who} cannot ${verb} path "${path}"`, { details: {} })
  }
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const why = `${who} cannot ${verb} resource "${resource}" in API group "${group}" ${where}`
  return forbidden({ group, plural }, name, why)
}
