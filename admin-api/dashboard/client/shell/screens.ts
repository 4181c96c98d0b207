/** Every screen: its path, the key that leads there, and its code, which is loaded when it is first shown. */
import type { ComponentType } from 'preact'
import type { IconName } from '../parts/icon.tsx'
import type { ScreenProps } from '../app/screen-props.ts'
import type { Words } from '../words/entries.ts'

type Load = () => Promise<{ readonly default: ComponentType<ScreenProps> }>

export interface Screen {
  /** The first part of its path; empty for the start. */
  readonly name: string
  readonly label: (words: Words) => string
  readonly icon: IconName
  readonly group: 'mail' | 'delivery' | 'access'
  /** The key behind `g`. */
  readonly key: string
  readonly load: Load
}

export const screens: readonly Screen[] = [
  { name: '', label: (w) => w.overview, icon: 'overview', group: 'mail', key: 'h', load: () => import('../overview/overview.tsx') },
  { name: 'traces', label: (w) => w.traces, icon: 'traces', group: 'mail', key: 't', load: () => import('../traces/traces.tsx') },
  { name: 'captures', label: (w) => w.captures, icon: 'captures', group: 'mail', key: 'i', load: () => import('../captures/captures.tsx') },
]

export const screenAt = (path: string): Screen | undefined => {
  const [, name = ''] = path.split('/')
  return screens.find((screen) => screen.name === name)
}
