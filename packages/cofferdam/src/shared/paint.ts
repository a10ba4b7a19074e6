type Style = 'bold' | 'dim' | 'cyan' | 'green' | 'yellow' | 'red'

/** Makes text stand out where colours can be shown, and leaves it as it is where not. */
export type Paint = (style: Style, text: string) => string

export const plainPaint: Paint = (_style, text) => text

/** How lines for people are made. */
export interface TextStyle {
  readonly now: string
  readonly paint: Paint
}
