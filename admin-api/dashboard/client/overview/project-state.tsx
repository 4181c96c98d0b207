/** Tells that mail of anonymous projects is captured. Claimed projects need no text. */
import type { JSX } from 'preact'
import { link, projectId } from '../app/location.ts'
import { projects } from '../app/projects.ts'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { texts } from '../texts/texts.ts'

export function ProjectState(): JSX.Element | null {
  const w = texts()
  const shown = projects.value.filter(({ id }) => projectId.value === undefined || id === projectId.value)
  const anonymous = shown.filter(({ status }) => status === 'anonymous')
  const [first] = anonymous
  if (!first) return null
  return (
    <p class="project-state">
      <span class="tag warn">
        <Mark name="pending" />
        anonymous
      </span>{' '}
      <span>
        {shown.length === 1 ? (
          <SafeText text={first.name} />
        ) : (
          w.projectsClaimed({ claimed: number(shown.length - anonymous.length), all: number(shown.length) })
        )}
        {' · '}
        {w.anonymousIsCaptured} <a href={link('/settings/agents')}>{w.claimIt}</a>
      </span>
    </p>
  )
}
