import { createHash } from 'node:crypto'
import { tokenReviews } from '@cofferdam/kubernetes/api/authentication.ts'
import { subjectAccessReviews } from '@cofferdam/kubernetes/api/authorization.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { dashboardAudience, dashboardPath } from '../../shared/dashboard-permission.ts'
import { type AccessVerdict, judgeUser, type TokenUser, tokenUserOf } from './judge-access.ts'

/** A verdict, and until when it counts without asking again. */
export type HeldVerdict = AccessVerdict & { readonly untilMs: number }

export interface DashboardAccess {
  /** Judges the bearer of an `Authorization` header. Never rejects. */
  judge(authorization: string | undefined): Promise<HeldVerdict>
}

export interface DashboardAccessOptions {
  readonly api: Pick<KubeApi, 'create'>
  readonly clock: Clock
  /** Whether tokens for the API server itself open the page too. Default no. */
  readonly takesApiTokens?: boolean
  /** Called when the cluster could not be asked. */
  readonly onUnknown?: (why: string) => void
}

/** A right that was taken away, and a token that ended, are noticed after so long. */
const admittedMs = 30_000
/** A right that was given is noticed after so long. */
const refusedMs = 5_000
const answerWithinMs = 10_000
const mostHeld = 500
const mostQuestions = 16
const longestToken = 16_384

/**
 * Asks the cluster who the bearer of a token is, and whether they may see the page.
 *
 * Guarantees: whatever goes wrong in asking, nobody is admitted by it. What is remembered is bounded, in number and in time, and holds no token.
 */
export function createDashboardAccess(options: DashboardAccessOptions): DashboardAccess {
  const { api, clock, takesApiTokens = false, onUnknown = () => {} } = options
  const held = new Map<string, HeldVerdict>()
  const underWay = new Map<string, Promise<HeldVerdict>>()
  const audienceSets = takesApiTokens ? [[dashboardAudience], undefined] : [[dashboardAudience]]

  async function reviewToken(token: string, signal: AbortSignal): Promise<TokenUser | undefined> {
    for (const audiences of audienceSets) {
      const review = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: { name: '' },
        spec: { token, ...(audiences === undefined ? {} : { audiences }) },
      }
      const user = tokenUserOf((await api.create(tokenReviews, review, { signal })).status, audiences)
      if (user !== undefined) return user
    }
    return undefined
  }

  async function reviewUser(user: TokenUser, signal: AbortSignal): Promise<AccessVerdict> {
    const { username, uid, groups, extra } = user
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: { name: '' },
      spec: {
        user: username,
        ...(uid === undefined ? {} : { uid }),
        ...(groups === undefined ? {} : { groups }),
        ...(extra === undefined ? {} : { extra }),
        nonResourceAttributes: { path: dashboardPath, verb: 'get' },
      },
    }
    return judgeUser(user, (await api.create(subjectAccessReviews, review, { signal })).status)
  }

  async function ask(token: string): Promise<AccessVerdict> {
    const giveUp = new AbortController()
    const cancel = clock.after(answerWithinMs, () => giveUp.abort(new Error('no answer in time')))
    try {
      const user = await reviewToken(token, giveUp.signal)
      return user === undefined ? { kind: 'unauthenticated' } : await reviewUser(user, giveUp.signal)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      onUnknown(why)
      return { kind: 'unknown', why }
    } finally {
      cancel()
    }
  }

  async function askAndHold(token: string, key: string): Promise<HeldVerdict> {
    const beganMs = clock.now()
    const verdict = await ask(token)
    const keptMs = verdict.kind === 'admitted' ? admittedMs : verdict.kind === 'unknown' ? 0 : refusedMs
    const answer = { ...verdict, untilMs: beganMs + keptMs }
    held.delete(key)
    if (keptMs > 0) held.set(key, answer)
    for (const oldest of held.keys()) {
      if (held.size <= mostHeld) break
      held.delete(oldest)
    }
    return answer
  }

  return {
    async judge(authorization) {
      const token = /^Bearer +([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1]
      const nowMs = clock.now()
      if (token === undefined || token.length > longestToken) return { kind: 'unauthenticated', untilMs: nowMs }
      const key = createHash('sha256').update(token).digest('base64')
      const known = held.get(key)
      if (known !== undefined && nowMs < known.untilMs) return known
      const asked = underWay.get(key)
      if (asked !== undefined) return asked
      if (underWay.size >= mostQuestions)
        return { kind: 'unknown', why: 'too many are asked about at once', untilMs: nowMs }
      const answer = askAndHold(token, key).finally(() => underWay.delete(key))
      underWay.set(key, answer)
      return answer
    },
  }
}

/** Judges again whenever the last verdict has run out, and says once when it is no longer an admission. Returns how to end it. */
export function followAccess(
  { judge }: DashboardAccess,
  {
    authorization,
    untilMs,
    clock,
    onLost,
  }: {
    readonly authorization: string | undefined
    readonly untilMs: number
    readonly clock: Clock
    readonly onLost: () => void
  },
): () => void {
  let isOver = false
  let cancel = () => {}
  const follow = (until: number) => {
    cancel = clock.after(Math.max(until - clock.now(), 0), () => void again())
  }
  const again = async () => {
    const verdict = await judge(authorization)
    if (isOver) return
    if (verdict.kind === 'admitted') follow(verdict.untilMs)
    else onLost()
  }
  follow(untilMs)
  return () => {
    isOver = true
    cancel()
  }
}
