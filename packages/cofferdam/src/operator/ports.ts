import type { KuredName } from '../capabilities/kured/domain/kured-name.ts'
import type { CephCapabilityPorts } from '../capabilities/ports.ts'
import type { RegisteredGuard } from '../eviction-guard/capability.ts'
import type { AppLockPolicy } from '../ledger/rules/app-lock.ts'
import type { DrainLockSettings } from '../ledger/rules/drain-lock-settings.ts'
import type { LedgerStore } from '../ledger/store/ledger-store.ts'
import type { SharedViews } from '../observe/shared-views.ts'

/** What any capability is put together from, while this process leads. */
export interface CapabilityPorts extends CephCapabilityPorts {
  readonly views: SharedViews
  readonly store: () => LedgerStore
  readonly drainLock: DrainLockSettings
  readonly appLocks: AppLockPolicy
  readonly kured: KuredName
  readonly dryRun: boolean
  /** This process, as others know it: no two have the same. */
  readonly identity: () => string
  /** Undefined where this process answers no reviews. */
  readonly guard: RegisteredGuard | undefined
}
