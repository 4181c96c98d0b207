/** French: suppressions. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  suppressOne: 'Bloquer une adresse',
  importTitle: 'Importer des adresses',
  importNow: 'Les bloquer',
  importButton: 'Importer',
  file: 'Fichier',
  fileHint: 'CSV avec une colonne email, comme l’export l’écrit, ou une adresse par ligne.',
  pasted: 'Ou collez des lignes ici',
  toTake: 'adresses à bloquer',
  repeated: 'y figurent plusieurs fois',
  without: 'lignes sans adresse sont laissées de côté',
  tooMany: (most: string) => `adresses, c’est trop ; au plus ${most} à la fois`,
  imported: (n: number) => (n < 2 ? `${number(n)} adresse est bloquée maintenant` : `${number(n)} adresses sont bloquées maintenant`),
  reportOf: (added: number, known: number, refused: number) =>
    `Ajoutées : ${number(added)} ; déjà là : ${number(known)} ; refusées : ${number(refused)}.`,
  wouldAdd: 'sont nouvelles sur la liste',
  wouldKeep: 'y sont déjà',
  wouldRefuse: 'seraient refusées',
  removedAll: (n: number) =>
    n < 2 ? `${number(n)} adresse reçoit de nouveau du courrier.` : `${number(n)} adresses reçoivent de nouveau du courrier.`,
  change: 'Modifier',
  changeNamed: (email: string) => `Modifier ${email}`,
  changed: (email: string) => `Le blocage de ${email} est enregistré.`,
  until: 'Bloquée jusqu’au (à votre heure)',
  untilHint: 'Vide : toujours',
}
