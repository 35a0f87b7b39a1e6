metadata name = 'Workbook'
metadata description = 'A workbook of Azure Monitor over the workspace.'

// Free of charge, and so are queries of tables on the Analytics plan.
// Every deployment writes it anew, so what was changed in the portal is lost: save such a change under another name.

import { tagsType } from '../types.bicep'

@description('Required. Stable name: the id of the workbook is made of it.')
param name string

@description('Required. Name that the portal shows.')
param displayName string

@description('Optional. What it shows.')
param summary string = ''

@description('Optional. Region of the workbook.')
param location string = resourceGroup().location

@description('Optional. Tags of the workbook.')
param tags tagsType = {}

@description('Required. Resource id of the workspace under which the portal lists it.')
param workspaceResourceId string

@description('Required. Text of the workbook, without ids of resources inside.')
param content string

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(resourceGroup().id, name)
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: displayName
    description: summary
    category: 'workbook'
    version: 'Notebook/1.0'
    sourceId: workspaceResourceId
    serializedData: content
  }
}

@description('Id of the workbook.')
output name string = workbook.name

@description('Resource id of the workbook.')
output resourceId string = workbook.id
