/** Switch between light and dark colors of a message. The address stores the choice. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import { Segments } from '../parts/controls.tsx'
import { texts } from './mail-texts.ts'

export const isDarkMail = (): boolean => query.value.get('colors') === 'dark'

export function ColorSwitch(): JSX.Element {
  const w = texts()
  return (
    <Segments
      label={w.colors}
      value={isDarkMail() ? 'dark' : 'light'}
      onChoose={(next) => go(linkHere({ colors: next === 'dark' ? 'dark' : '' }), { replaces: true })}
      choices={[
        { value: 'light', label: w.light },
        { value: 'dark', label: w.dark },
      ]}
    />
  )
}
