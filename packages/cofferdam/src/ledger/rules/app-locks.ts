import { type AppLock, type AppLockQuestion, judgeAppLocks } from './app-lock.ts'

/** The locks that count among the budgets of one namespace, by name of the budget. */
export function appLocksInForce(question: AppLockQuestion): ReadonlyMap<string, AppLock> {
  const judged = judgeAppLocks(question)
  return new Map([...judged].flatMap(([name, { lock }]) => (lock === undefined ? [] : [[name, lock] as const])))
}
