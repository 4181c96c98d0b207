/** Props of every screen. */
export interface ScreenProps {
  /** Path segments after the screen name. */
  readonly rest: readonly string[]
}
