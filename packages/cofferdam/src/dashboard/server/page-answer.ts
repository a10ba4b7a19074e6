import { dashboardPath } from '../../shared/dashboard-permission.ts'
import type { AccessVerdict } from './judge-access.ts'
import type { PageFile } from './page-files.ts'

export interface PageAnswer extends PageFile {
  readonly code: number
  readonly headers?: Readonly<Record<string, string>>
}

export function text(code: number, says: string): PageAnswer {
  return { code, contentType: 'text/plain; charset=utf-8', body: Buffer.from(`${says}\n`) }
}

export function json(value: unknown): PageAnswer {
  return { code: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) }
}

/** What somebody gets who is not admitted. */
export function refusal(verdict: AccessVerdict): PageAnswer | undefined {
  switch (verdict.kind) {
    case 'admitted':
      return undefined
    case 'unauthenticated': {
      const headers = { 'www-authenticate': 'Bearer realm="cofferdam"' }
      return { ...text(401, 'the cluster does not know this token, or the token has ended'), headers }
    }
    case 'forbidden':
      return text(403, `${verdict.user} may not see this page: it needs the right to get the path ${dashboardPath}`)
    case 'unknown':
      return { ...text(503, 'the cluster could not be asked who you are; try again'), headers: { 'retry-after': '2' } }
  }
}
