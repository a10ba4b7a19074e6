import { ApiError, hasReason } from '../api/api-error.ts'
import type { KubeList, KubeObject } from '../api/kube-object.ts'
import type { ResourceType } from '../api/resource-type.ts'
import type { KubeApi, ListQuery, WatchEvent } from '../client/kube-api.ts'
import { linkSignals } from '../client/link-signals.ts'
import { compareResourceVersions } from '../client/resource-version.ts'
import { CofferdamError } from '../errors.ts'
import { type BackoffPolicy, backoffDelayMs } from '../runtime/backoff.ts'
import { type Clock, type Moment, momentOf, passedMs, sleep } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import type { StagedList } from './cached-collection.ts'

/** What is fed by a watch. */
export interface FollowedCollection<T extends KubeObject> {
  readonly resourceVersion: string | undefined
  resume(): void
  apply(event: WatchEvent<T>): void
  stage(): StagedList<T>
}

export interface FollowOptions<T extends KubeObject> {
  readonly api: KubeApi
  readonly type: ResourceType<T>
  readonly clock: Clock
  readonly random: Random
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly pageSize?: number
  readonly listBy?: 'stream' | 'pages'
  readonly stallMs?: number
  readonly collection: FollowedCollection<T>
  readonly signal: AbortSignal
  /** The server was heard, and what it said is in. */
  readonly onHeard: () => void
  readonly onError: (error: unknown) => void
}

const backoff = { firstMs: 800, longestMs: 30_000 }
/** A kind that the server does not have comes with an installation, which takes its time too. */
const absentBackoff = { firstMs: 800, longestMs: 60_000 }
/** What ended sooner is followed by a pause, whatever it brought: a server that ends all at once is not asked in a hot loop. */
const shortLifeMs = 1_000
/** A stream that lived so long was a success, even if nothing happened on it. */
const provenAfterMs = 30_000
/** A page may be asked for several times below, with waits in between. */
const pageLimitMs = 180_000
/** Within this time no cluster is restored from a backup and has come as far again. After it the server's version proves nothing, and all is read. */
const restorableMs = 10_000
/** The version of the server is known with one object. */
const versionLimitMs = 10_000
/** Old servers take a request for initial events, never say that they ended, and fall silent. */
const initialSilenceMs = 10_000

/**
 * A list that is older than what is known is believed after so long. Until then a server that has fallen behind is the likelier cause,
 * and what it has not heard of yet would be taken for removed; after that the cluster was restored from a backup.
 */
const restoredAfterMs = 180_000

/** The server does not stream its present state: pages are used from then on. */
class StreamingUnsupported extends Error {}

/** Lists and watches until the signal fires. Never rejects. */
export async function followCollection<T extends KubeObject>(options: FollowOptions<T>): Promise<void> {
  await new CollectionFollower(options).run()
}

class CollectionFollower<T extends KubeObject> {
  readonly #options: FollowOptions<T>
  readonly #random: Random
  #pageSize: number
  #listsByStream: boolean
  #needsList = true
  /** Since when no stream tells what happens, once one did. */
  #lostSince: Moment | undefined
  #failures = 0
  /** Since when lists have been older than what is known. */
  #behindSince: Moment | undefined

  constructor(options: FollowOptions<T>) {
    this.#options = options
    this.#random = options.random.stream(`watch of ${options.namespace ?? ''}/${options.type.plural}`)
    this.#pageSize = options.pageSize ?? 500
    this.#listsByStream = options.listBy !== 'pages'
  }

  async run(): Promise<void> {
    const { clock, signal } = this.#options
    while (!signal.aborted) {
      const startedAt = momentOf(clock)
      try {
        if (this.#lostSince !== undefined && !this.#needsList) await this.#askVersion(this.#lostSince)
        if (this.#needsList && !this.#listsByStream) await this.#listInPages()
        else {
          await this.#watch()
          await this.#rest(passedMs(clock, startedAt))
          this.#lostSince = momentOf(clock)
        }
      } catch (error) {
        if (!signal.aborted) await this.#recover(error, passedMs(clock, startedAt))
      }
    }
  }

  async #listInPages(): Promise<void> {
    const { collection } = this.#options
    const staged = collection.stage()
    let first: string | undefined
    let continueToken: string | undefined
    do {
      try {
        const page = await this.#list(pageLimitMs, {
          ...this.#selection(),
          limit: this.#pageSize,
          ...(continueToken === undefined ? {} : { continueToken }),
        })
        for (const object of page.items) staged.put(object)
        // Of several versions the first is safe to go on from: it leaves nothing out, and repetitions do no harm.
        first ??= page.resourceVersion
        continueToken = page.continueToken
      } catch (error) {
        // The list outlived the server's history. With larger pages it gets through before that happens again.
        if (continueToken !== undefined && isExpired(error)) this.#pageSize *= 2
        throw error
      }
    } while (continueToken !== undefined)
    this.#commit(staged, first)
  }

  async #list(limitMs: number, query: ListQuery): Promise<KubeList<T>> {
    const { api, type, clock, signal } = this.#options
    const limits = linkSignals(signal)
    const cancel = clock.after(limitMs, () => limits.abort())
    try {
      return await api.list(type, { ...query, signal: limits.signal })
    } finally {
      cancel()
      limits.unlink()
    }
  }

  /** Follows one stream to its end; with the present state first where a list is needed. */
  async #watch(): Promise<void> {
    const { api, type, clock, signal, collection, onHeard, stallMs = 180_000 } = this.#options
    let staged = this.#needsList ? collection.stage() : undefined
    if (staged === undefined) collection.resume()
    const stream = linkSignals(signal)
    let heardAt = momentOf(clock)
    let isStalled = false
    let cancel = () => {}
    const watchOver = (delayMs: number) => {
      cancel = clock.after(delayMs, () => {
        const limitMs = staged === undefined ? stallMs : initialSilenceMs
        const silenceMs = passedMs(clock, heardAt)
        isStalled = silenceMs >= limitMs
        if (isStalled) stream.abort()
        else watchOver(limitMs - silenceMs)
      })
    }
    watchOver(initialSilenceMs)
    try {
      const events = api.watch(type, {
        ...this.#selection(),
        allowBookmarks: true,
        // Spread, so that the streams of many caches do not end together.
        timeoutSeconds: 300 + Math.floor(this.#random.next() * 300),
        signal: stream.signal,
        ...(staged === undefined
          ? { resourceVersion: collection.resourceVersion ?? '' }
          : { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
      })
      for await (const event of events) {
        heardAt = momentOf(clock)
        if (staged !== undefined) {
          if (this.#stage(staged, event)) staged = undefined
          continue
        }
        collection.apply(event)
        this.#failures = 0
        this.#lostSince = undefined
        onHeard()
      }
    } catch (error) {
      if (staged !== undefined && error instanceof ApiError && [400, 405, 406, 422, 501].includes(error.code)) {
        throw new StreamingUnsupported()
      }
      throw error
    } finally {
      cancel()
      stream.unlink()
    }
    if (signal.aborted) return
    if (staged !== undefined) throw new StreamingUnsupported()
    if (isStalled) {
      this.#needsList = true
      const message = `the watch of ${type.plural} was silent for ${stallMs / 1000} s`
      throw new CofferdamError('API_UNREACHABLE', message, { facts: { resource: type.plural } })
    }
  }

  /** Returns whether the list is complete with this event. */
  #stage(staged: StagedList<T>, event: WatchEvent<T>): boolean {
    if (event.type === 'DELETED') staged.remove(event.object)
    else if (event.type !== 'BOOKMARK') staged.put(event.object)
    else if (event.initialEventsEnd === true) this.#commit(staged, event.resourceVersion)
    else throw new StreamingUnsupported()
    return event.type === 'BOOKMARK'
  }

  #commit(staged: StagedList<T>, resourceVersion = ''): void {
    this.#refuseBehind(resourceVersion)
    this.#needsList = false
    this.#lostSince = undefined
    staged.commit(resourceVersion)
    this.#options.onHeard()
  }

  /**
   * A server that was restored from a backup takes a version that it has not come to yet, and is silent about all that is written until it has.
   * So it is asked for its version before a stream goes on; with one object, and without labels, for which it would have to read all.
   */
  async #askVersion(lostSince: Moment): Promise<void> {
    this.#needsList = passedMs(this.#options.clock, lostSince) > restorableMs
    if (this.#needsList) return
    const { labelSelector: _, ...selection } = this.#selection()
    const { resourceVersion } = await this.#list(versionLimitMs, { ...selection, limit: 1 })
    this.#needsList = this.#isBehind(resourceVersion)
    this.#refuseBehind(resourceVersion)
  }

  #isBehind(resourceVersion: string): boolean {
    return (compareResourceVersions(resourceVersion, this.#options.collection.resourceVersion ?? '') ?? 0) < 0
  }

  #refuseBehind(resourceVersion: string): void {
    const { clock, type } = this.#options
    if (!this.#isBehind(resourceVersion)) {
      this.#behindSince = undefined
      return
    }
    this.#behindSince ??= momentOf(clock)
    if (passedMs(clock, this.#behindSince) >= restoredAfterMs) {
      this.#behindSince = undefined
      return
    }
    const message = `the list of ${type.plural} is older than what is known of them: the API server has fallen behind, or was restored from a backup`
    throw new CofferdamError('API_UNREACHABLE', message, { facts: { resource: type.plural } })
  }

  /** After a stream that the server ended as it should. */
  async #rest(livedMs: number): Promise<void> {
    if (livedMs >= shortLifeMs) return
    this.#failures += 1
    await this.#pause(0)
  }

  async #recover(error: unknown, livedMs: number): Promise<void> {
    if (error instanceof StreamingUnsupported) {
      this.#listsByStream = false
      return
    }
    if (livedMs >= provenAfterMs) {
      this.#failures = 0
      this.#lostSince = undefined
    }
    this.#lostSince ??= momentOf(this.#options.clock)
    this.#failures += 1
    if (isExpired(error)) {
      this.#needsList = true
      if (livedMs >= shortLifeMs) return
    } else {
      if (isAboutVersion(error)) this.#needsList = true
      this.#options.onError(error)
    }
    if (error instanceof ApiError && error.code === 404) await this.#pause(0, absentBackoff)
    else await this.#pause(error instanceof ApiError ? (error.details?.retryAfterSeconds ?? 0) * 1000 : 0)
    // Whoever may not watch is told so by a server that is there, and must not list all for ever in place of it.
    if (hasReason(error, 'Forbidden')) this.#lostSince = momentOf(this.#options.clock)
  }

  async #pause(atLeastMs: number, policy: BackoffPolicy = backoff): Promise<void> {
    const { clock, signal } = this.#options
    // What the server asks for comes first; chance comes on top, never instead.
    await sleep(clock, atLeastMs + backoffDelayMs(this.#failures, policy, this.#random), signal)
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector } = this.#options
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    }
  }
}

function isExpired(error: unknown): boolean {
  return hasReason(error, 'Expired', 'Gone') || (error instanceof ApiError && error.code === 410)
}

/** The server does not understand the version, or has not come to it: a backup was restored, or another cluster answers. */
function isAboutVersion(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  const isTooLarge = error.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') ?? false
  return isTooLarge || error.code === 400 || error.code === 422
}
