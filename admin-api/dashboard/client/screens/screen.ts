/** Type of a screen: its address, its place in the navigation, and the roles that can open it. */
import type { ComponentType } from 'preact'
import type { ScreenProps } from '../app/screen-props.ts'
import type { IconName } from '../parts/icon.tsx'
import type { ShellTexts } from '../texts/shell-texts.ts'

export type Label = (texts: ShellTexts) => string

/** Groups of the settings column, by owner. */
export const sectionGroups = ['project', 'access', 'events', 'organization', 'person'] as const
export type SectionGroup = (typeof sectionGroups)[number]

export interface Screen {
  /** First address. Longer addresses are pages of the screen, unless another screen has them. */
  readonly at: string
  /** Matches addresses of the screen that do not begin with `at`. */
  readonly has?: RegExp
  /** Beginning of the addresses that `has` matches. */
  readonly base?: string
  readonly label: Label
  readonly icon: IconName
  /** Address of the entry of the navigation that contains the screen. Undefined for an entry. */
  readonly within?: string
  /** Label among the tabs of the entry. The tabs of one entry are the screens with a tab label, in order. */
  readonly tab?: Label
  /** Group in the settings column. */
  readonly section?: SectionGroup
  /** Group in the navigation. Undefined for a screen that is not an entry. */
  readonly group?: 'mail' | 'delivery' | 'content' | 'foot'
  /** Label of the entry in the navigation, if it differs from the label of its first tab. */
  readonly entry?: Label
  /** Label for the bottom bar, if the entry is wider than a fifth of 320 px. */
  readonly short?: Label
  /** Whether anonymous visitors can open the screen. */
  readonly isOpen?: boolean
  /** Whether the screen is about the signed-in user and requires no role. */
  readonly isPersonal?: boolean
  /** Whether the billing role, which cannot read projects, can open the screen. */
  readonly isForBilling?: boolean
  /** Whether read-only roles cannot list the resources of the screen. The screen then explains the missing permission. */
  readonly isForChanging?: boolean
  /** Second key after `g`. */
  readonly key?: string
  /** Label of the creation form at `?new=1`, for roles that may create. */
  readonly makes?: Label
  /** Whether only administrators may create. */
  readonly isForAdministrators?: boolean
  readonly load: () => Promise<{ readonly default: ComponentType<ScreenProps> }>
}
