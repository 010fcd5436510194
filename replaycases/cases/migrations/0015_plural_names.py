from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0014_owner_and_proposal_indexes"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="laneentry",
            options={"verbose_name_plural": "lane entries"},
        ),
    ]
