/** Whether somebody keeps the record up to date. */
export interface Attendance {
  /** Left out where it is not known. */
  readonly isAttended?: boolean
  readonly unattendedSince?: string
}
