import { hostname, userInfo } from 'node:os'

/** Who asks, as `user@host`; containers may run as a user without a name. */
export function localRequester(environment: Readonly<Record<string, string | undefined>>): string {
  return `${userName(environment)}@${hostname()}`
}

function userName(environment: Readonly<Record<string, string | undefined>>): string {
  try {
    return userInfo().username
  } catch {
    return environment['USER'] ?? environment['LOGNAME'] ?? 'somebody'
  }
}
