/** What every screen gets. */
export interface ScreenProps {
  /** What stands in the path behind the name of the screen, in order. */
  readonly rest: readonly string[]
}
