import type { OperatorStatus } from './operator-status.ts'

/** Whether somebody keeps the record up to date. */
export interface Attendance {
  /** Left out where it is not known. */
  readonly isAttended?: boolean
  readonly unattendedSince?: string
}

export function attendanceOf({ isRunning, renewedAt }: OperatorStatus): Attendance {
  return {
    ...(isRunning === undefined ? {} : { isAttended: isRunning }),
    ...(isRunning === false && renewedAt !== undefined ? { unattendedSince: renewedAt } : {}),
  }
}
