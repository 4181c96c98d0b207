/** Settings of the chosen project, else of the default project. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { areProjectsKnown, homeProject, rememberProject } from '../app/projects.ts'
import { useList } from '../app/query.ts'
import { Loading, Show, State } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts/texts.ts'
import { ProjectPage } from './project-page.tsx'
import { texts as own } from './projects-texts.ts'

export default function OwnProject(): JSX.Element {
  const project = homeProject()
  if (project) return <ProjectPage key={project.id} id={project.id} isSection />
  return (
    <>
      <TopBar title={texts().project} />
      <div class="sheet">{areProjectsKnown.value ? <NoProject /> : <Loading />}</div>
    </>
  )
}

/** Reads the projects once more, because the list of the window is also empty after a failure. */
function NoProject(): JSX.Element {
  const { read, reload } = useList('/v1/projects', {}, { isShown: true })
  useEffect(() => read.data?.forEach(rememberProject), [read.data])
  return (
    <Show read={read} reload={reload} failure={own().failed}>
      {() => <State title={own().none} text={own().sayText} />}
    </Show>
  )
}
