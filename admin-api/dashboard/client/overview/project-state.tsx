/** Shows whether the current project, or each of all projects, is claimed. Mail of an anonymous project is always captured. */
import type { JSX } from 'preact'
import { link, projectId } from '../app/location.ts'
import { areProjectsKnown, projects } from '../app/projects.ts'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { texts } from '../texts/texts.ts'

export function ProjectState(): JSX.Element | null {
  const w = texts()
  const shown = projects.value.filter(({ id }) => projectId.value === undefined || id === projectId.value)
  const [only] = shown
  if (!areProjectsKnown.value || !only) return null
  const anonymous = shown.filter(({ status }) => status === 'anonymous')
  const isClaimed = anonymous.length === 0
  return (
    <p class="project-state">
      <span class={isClaimed ? 'tag good' : 'tag warn'}>
        <Mark name={isClaimed ? 'ok' : 'pending'} />
        {isClaimed ? 'claimed' : 'anonymous'}
      </span>{' '}
      <span>
        {shown.length === 1 ? (
          <SafeText text={only.name} />
        ) : (
          w.projectsClaimed({ claimed: number(shown.length - anonymous.length), all: number(shown.length) })
        )}
        {!isClaimed && (
          <>
            {' · '}
            {w.anonymousIsCaptured} <a href={link('/settings/agents')}>{w.claimIt}</a>
          </>
        )}
      </span>
    </p>
  )
}
