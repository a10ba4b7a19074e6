/** A Markdown file of the repository. Paths are relative to its root, with slashes. */
export interface SourcePage {
  readonly file: string
  readonly markdown: string
}
