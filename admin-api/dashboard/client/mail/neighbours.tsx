/** Navigation to the previous and next message. */
import type { JSX } from 'preact'
import { keyFor, useKeys } from '../app/keys.ts'
import { go } from '../app/location.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from './mail-texts.ts'

/** Binds keys for the previous and next message. They do nothing at the ends of the list. */
export function useNeighbourKeys(before: string | undefined, after: string | undefined): void {
  const goTo = (place: string | undefined) => () => void (place !== undefined && go(place))
  const [back, on] = [goTo(before), goTo(after)]
  useKeys({ '[': back, ']': on, k: back, j: on }, [before, after])
}

interface NeighboursProps {
  /** URL of the message. Undefined at the end of the list. */
  readonly before: string | undefined
  readonly after: string | undefined
}

export function Neighbours({ before, after }: NeighboursProps): JSX.Element {
  const w = texts()
  const places = [
    [before, w.before, 'up', '['],
    [after, w.after, 'down', ']'],
  ] as const
  return (
    <span class="neighbours">
      {places.map(([href, label, icon, key]) => (
        <button
          key={key}
          class="button quiet square"
          aria-label={label}
          title={label}
          aria-disabled={href === undefined}
          aria-keyshortcuts={keyFor(key)}
          onClick={() => href !== undefined && go(href)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </span>
  )
}
