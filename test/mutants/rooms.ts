/** The rooms whose files only judge: what is wrong in one of them is wrong everywhere. */
export function roomOf(file: string): string | undefined {
  return /\.test\.ts$|\/testing\//.test(file) ? undefined : folderOf(file)
}

/** The room whose table or property a test is, or to which a file belongs. */
export function folderOf(file: string): string | undefined {
  return (
    /^packages\/cofferdam\/src\/(?:capabilities\/)?([a-z-]+)\/domain\//.exec(file)?.[1] ??
    /^packages\/cofferdam\/src\/(safety)\//.exec(file)?.[1] ??
    /^packages\/cofferdam\/src\/(ledger)\/rules\//.exec(file)?.[1]
  )
}
