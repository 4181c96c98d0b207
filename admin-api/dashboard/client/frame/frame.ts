/** Place of the current screen, for its top bar: links above it, tabs at its side, and the settings column. */
import { createContext } from 'preact'
import type { Badge } from '../app/open.ts'

export interface FrameLink {
  readonly href: string
  readonly label: string
  readonly isCurrent: boolean
  readonly badge?: Badge | undefined
}

export interface FrameSections {
  readonly title: string
  readonly links: readonly FrameLink[]
}

export interface Frame {
  /** Links above the screen. A screen with tabs shows them only on pages of one object. */
  readonly trail: readonly FrameLink[]
  /** Title that replaces the title of a screen with tabs. */
  readonly title: string | undefined
  readonly tabs: readonly FrameLink[]
  /** Groups of the settings column. Empty outside of the settings. */
  readonly sections: readonly FrameSections[]
}

export const bareFrame: Frame = { trail: [], title: undefined, tabs: [], sections: [] }

export const FrameContext = createContext<Frame>(bareFrame)
