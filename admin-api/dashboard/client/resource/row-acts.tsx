/** Actions on rows: entries of their menus, the dialog of an irreversible deletion, and the button for selected rows. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callAny, type ApiFault } from '../app/api.ts'
import { linkHere } from '../app/location.ts'
import { mayAdminister, mayChange } from '../app/permissions.ts'
import { asFault, showFault } from '../app/query.ts'
import { EndDialog } from '../parts/forms.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Bulk } from '../selection/selection.tsx'
import { texts } from '../texts/texts.ts'
import type { Row } from '../wire/route.ts'
import { untyped, type AnyRow, type Described, type ListPath, type Resource } from './description.ts'
import { EditResource } from './resource-form.tsx'
import type { MenuEntry } from './row-menu.tsx'

export const mayEdit = ({ change }: Described): boolean => (change === 'admin' ? mayAdminister : mayChange).value

interface Then {
  /** Reads rows again. */
  readonly reload: () => void
  /** Called after the deletion of a row. */
  readonly onRemoved: (row: AnyRow) => void
}

/** Runs work. Shows the confirmation, or the error of the service. */
async function attempt(work: () => Promise<unknown>, said: string, undo?: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    toast(said, undo && (() => void undo().catch(showFault)))
    return true
  } catch (error) {
    showFault(error)
    return false
  }
}

export const removeRow = ({ path }: Described, { id }: AnyRow): Promise<unknown> => callAny(`DELETE ${path}/{id}`, { path: { id } })

interface RowActs {
  /** Returns the menu entries of a row. Empty without permission. */
  readonly entriesOf: (row: AnyRow) => readonly MenuEntry[]
  /** The dialog of the deletion, while it is open. */
  readonly dialog: JSX.Element | false
}

export function useRowActs(of: Described, { reload, onRemoved }: Then): RowActs {
  const { form, actions = [], remove } = of
  const [removed, setRemoved] = useState<AnyRow>()
  const how = remove?.how
  const start = (row: AnyRow): void => {
    if (!remove || !how) return
    if ('effects' in how) return setRemoved(row)
    void attempt(
      () => removeRow(of, row),
      remove.done(row),
      () => how.undo(row).then(reload),
    ).then((isDone) => isDone && onRemoved(row))
  }
  return {
    entriesOf: (row) =>
      mayEdit(of)
        ? [
            ...(form?.update ? [{ label: texts().edit, href: linkHere({ edit: row.id, new: '', import: '' }) }] : []),
            ...actions.map(({ label, run, done, undo }) => ({
              label: label(row),
              run: () =>
                void attempt(() => run(row), done(row), undo && (() => undo(row).then(reload))).then((isDone) => isDone && reload()),
            })),
            ...(remove ? [{ label: remove.label(), run: () => start(row), isBad: true }] : []),
          ]
        : [],
    dialog: removed !== undefined && remove !== undefined && how !== undefined && 'effects' in how && (
      <EndDialog
        title={remove.label()}
        effects={how.effects(removed)}
        name={plain(of.name(removed))}
        submit={remove.label()}
        onClose={() => setRemoved(undefined)}
        onSubmit={async () => {
          await removeRow(of, removed)
          toast(remove.done(removed))
          setRemoved(undefined)
          onRemoved(removed)
        }}
      />
    ),
  }
}

/** Button that deletes the selected rows one by one, until one fails. Undo creates the deleted ones again. */
export function bulkOf(of: Described, reload: () => void): Bulk<AnyRow> | undefined {
  const { remove } = of
  const { many, how } = remove ?? {}
  if (!remove || !many || !how || !('undo' in how) || !mayEdit(of)) return undefined
  const removeAll = async (rows: readonly AnyRow[]): Promise<void> => {
    const gone: AnyRow[] = []
    let fault: ApiFault | undefined
    try {
      for (const row of rows) {
        await removeRow(of, row)
        gone.push(row)
      }
    } catch (error) {
      fault = asFault(error)
      if (gone.length === 0) return toast(fault.message)
    }
    const restore = async (): Promise<void> => {
      for (const row of gone) await how.undo(row)
    }
    toast([many(gone.length), ...(fault ? [fault.message] : [])].join(' '), () => void restore().catch(showFault).finally(reload))
    reload()
  }
  return (rows, done) => (
    <button
      class="button small"
      onClick={() => {
        done()
        void removeAll(rows)
      }}
    >
      {remove.label()}
    </button>
  )
}

interface MenuProps<R> {
  readonly row: R
  readonly onChange: () => void
  readonly onRemoved: () => void
}

/** Returns the menu for the page of a resource, with its dialogs. */
export function resourceMenu<P extends ListPath, D extends object>(given: Resource<P, D>) {
  const of = untyped(given)
  return function ResourceMenu({ row, onChange, onRemoved }: MenuProps<Row<P> & AnyRow>): JSX.Element | null {
    const [isEditing, setEditing] = useState(false)
    const { entriesOf, dialog } = useRowActs(of, { reload: onChange, onRemoved })
    const entries = entriesOf(row)
    if (entries.length === 0) return null
    return (
      <MoreMenu
        acts={(then) => (
          <>
            {entries.map(({ label, run = () => setEditing(true), isBad = false }) => (
              <button key={label} class={isBad ? 'bad' : ''} onClick={then(run)}>
                {label}
              </button>
            ))}
          </>
        )}
      >
        {isEditing && <EditResource of={of} row={row} onClose={() => setEditing(false)} onDone={onChange} />}
        {dialog}
      </MoreMenu>
    )
  }
}
