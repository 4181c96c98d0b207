/** Where people are kept: as they belong to no organization, users and login links share a partition; a user's rows lie under their id. */
export const peoplePartition = 'people'
